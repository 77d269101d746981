/// @file
/// Waits for sockets, and to be woken: epoll with an eventfd in it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace routemaster::detail {

/// An epoll set that is changed as little as possible.
///
/// libcurl stops watching a connection after each answer and begins again with the next request.
/// For sockets that were announced by `opened` the stop is therefore only noted, and carried out
/// when the socket stirs in the meantime; a kept-alive connection then costs no system calls here.
///
/// Thread safety: `wake` from any thread, all others from one.
class SocketWatch {
public:
    /// Throws `Failure` when the process has no descriptors left.
    SocketWatch();
    ~SocketWatch();

    SocketWatch(const SocketWatch&) = delete;
    SocketWatch& operator=(const SocketWatch&) = delete;

    /// A socket exists from now until `closed`, which must be called before its number can be
    /// given to another.
    void opened(int socket);
    void closed(int socket);

    /// Watches `socket` for `events` (of epoll), 0 for none. False when the kernel refuses.
    bool want(int socket, std::uint32_t events);

    /// Sleeps until something happens, `wake` is called, or `milliseconds` are over (-1: never).
    /// Calls `happened(socket, events)` for each socket.
    template <class Happened>
    void wait(int milliseconds, Happened happened) {
        const std::size_t count = collect(milliseconds);
        for (std::size_t i = 0; i < count; ++i) {
            const auto [socket, events] = ready_[i];
            if (is_wanted(socket)) happened(socket, events);
        }
    }

    /// Ends the present `wait`, or else the next.
    void wake();

private:
    struct Interest {
        std::uint32_t watched = 0;  ///< What epoll watches for.
        std::uint32_t wanted = 0;   ///< What it should.
        bool announced = false;     ///< Its closing will be told.
    };

    [[nodiscard]] Interest& interest(int socket);
    [[nodiscard]] std::size_t collect(int milliseconds);
    [[nodiscard]] bool is_wanted(int socket);
    bool watch(int socket, Interest& interest, std::uint32_t events);

    static constexpr std::size_t ready_max = 256;  ///< Further sockets wait for the next round.

    int epoll_ = -1;
    int wake_ = -1;
    std::vector<Interest> interests_;  ///< By descriptor; as long as the process's largest one.
    std::vector<std::pair<int, std::uint32_t>> ready_;
};

}  // namespace routemaster::detail
