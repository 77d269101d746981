/// @file
/// `PrivateNetwork`: a network, and files in /etc, for a single test. Needs root.

#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// A network with only the loopback interface, for one thread, and for the threads and processes
/// that it starts. They can also have private versions of files in /etc.
class PrivateNetwork {
public:
    PrivateNetwork(const PrivateNetwork&) = delete;
    PrivateNetwork& operator=(const PrivateNetwork&) = delete;

    /// Runs `body` on a new thread in a new network. Rethrows its exception.
    static void run(const std::function<void(PrivateNetwork&)>& body) {
        std::exception_ptr thrown;
        std::thread{[&] {
            try {
                PrivateNetwork network;
                body(network);
            } catch (...) {
                thrown = std::current_exception();
            }
        }}.join();
        if (thrown) std::rethrow_exception(thrown);
    }

    /// Runs `ip ARGUMENTS`.
    void ip(const std::string& arguments) const {
        if (std::system(("PATH=$PATH:/usr/sbin:/sbin ip " + arguments).c_str()) != 0) {
            throw std::runtime_error{"ip " + arguments + " failed"};
        }
    }

    /// Replaces the content of the file at `path`, which must exist, with `text`.
    void replace(const std::string& path, std::string_view text) {
        const std::string copy = (folder_.path() / std::to_string(++files_)).string();
        std::ofstream{copy} << text;
        require(::mount(copy.c_str(), path.c_str(), nullptr, MS_BIND, nullptr), "mount");
    }

private:
    PrivateNetwork() {
        require(::unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare, which needs root");
        require(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mount");
        ip("link set lo up");
    }

    static void require(int result, const std::string& what) {
        if (result != 0) throw std::system_error{errno, std::generic_category(), what};
    }

    const TemporaryFolder folder_;
    int files_ = 0;
};

}  // namespace routemaster::test
