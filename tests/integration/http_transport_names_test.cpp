#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "routemaster/transport/http.hpp"
#include "support/deliveries.hpp"
#include "support/full_listener.hpp"
#include "support/private_network.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::PrivateNetwork;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::status;

namespace {

/// A name server that never responds.
class SilentNameServer {
public:
    SilentNameServer() : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(53);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            throw std::runtime_error{"cannot bind port 53"};
        }
    }
    ~SilentNameServer() { ::close(socket_); }
    SilentNameServer(const SilentNameServer&) = delete;
    SilentNameServer& operator=(const SilentNameServer&) = delete;

    /// The number of distinct queries for names that begin with this label.
    [[nodiscard]] std::size_t questions(const std::string& label) const {
        const std::string sought = static_cast<char>(label.size()) + label;
        std::set<std::string> ids;
        std::array<char, 512> question;
        while (true) {
            const auto size = ::recv(socket_, question.data(), question.size(), MSG_DONTWAIT);
            if (size < 0) return ids.size();
            const std::string text{question.data(), static_cast<std::size_t>(size)};
            if (text.find(sought) == name_at) ids.insert(text.substr(0, 2));
        }
    }

private:
    static constexpr std::size_t name_at = 12;  // After the header of a DNS message.

    int socket_;
};

/// Runs `body` in a network with a silent name server. `healthy.test` and others resolve without
/// it.
void run_without_names(const std::function<void(const SilentNameServer&)>& body) {
    PrivateNetwork::run([&](PrivateNetwork& network) {
        network.replace("/etc/resolv.conf", "nameserver 127.0.0.1\n");
        network.replace("/etc/nsswitch.conf", "hosts: files dns\n");
        network.replace("/etc/hosts", "127.0.0.1 localhost healthy.test xn--bcher-kva.test\n");
        const SilentNameServer silent;
        body(silent);
    });
}

std::size_t threads_of_this_process() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

const HttpTransportOptions local_names{
    .connect_timeout = 1'000ms, .allow_http = true, .allow_loopback = true};

}  // namespace

TEST_CASE("a silent name server occupies few threads, and delays only deliveries that need it") {
    run_without_names([](const SilentNameServer& names) {
        ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); }};
        const std::string tail = ":" + std::to_string(healthy.port()) + "/events";
        DeliveryReports reports;
        auto options = local_names;
        options.connect_timeout = 3'000ms;
        HttpTransport transport{options};
        REQUIRE(deliver(transport, delivery("http://healthy.test" + tail)).outcome);
        const auto before = threads_of_this_process();
        const auto begun = std::chrono::steady_clock::now();
        for (int i = 0; i < 1'000; ++i) {
            transport.deliver(delivery("http://one.silent.test/" + std::to_string(i)),
                              reports.keep());
        }
        for (int i = 0; i < 1'000; ++i) {
            transport.deliver(delivery("http://n" + std::to_string(i) + ".silent.test/events"),
                              reports.keep());
        }
        std::size_t threads = before;
        int rounds = 0;
        while (rounds < 30 && reports.all().empty()) {
            CHECK(deliver(transport, delivery("http://127.0.0.1" + tail)).outcome);
            CHECK(deliver(transport, delivery("http://healthy.test" + tail)).outcome);
            if (reports.all().empty()) ++rounds;
            threads = std::max(threads, threads_of_this_process());
        }
        // All these deliveries happened while the lookups waited.
        CHECK(rounds > 0);
        CHECK(threads <= before + 32);
        const auto all = reports.wait_for(2'000);
        // In sequence the lookups would take 2,000 timeouts; 32 at a time, 62 timeouts.
        CHECK(std::chrono::steady_clock::now() - begun < 10 * options.connect_timeout);
        for (const auto& report : all) {
            REQUIRE_FALSE(report.outcome);
            CHECK(report.outcome.error().code() == Errc::timed_out);
        }
        CHECK(names.questions("one") <= 2);  // For IPv4 and IPv6.
        MESSAGE((threads - before) << " threads for names");
    });
}

TEST_CASE("a new name is resolved while other lookups hang") {
    run_without_names([](const SilentNameServer&) {
        ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); }};
        DeliveryReports reports;
        HttpTransport transport{local_names};
        for (int i = 0; i < 10; ++i) {
            transport.deliver(delivery("http://n" + std::to_string(i) + ".silent.test/events"),
                              reports.keep());
        }
        const std::string tail = ":" + std::to_string(healthy.port()) + "/events";
        CHECK(deliver(transport, delivery("http://healthy.test" + tail)).outcome);
        CHECK(reports.all().empty());
    });
}

TEST_CASE("names are resolved as the operating system resolves names, in any spelling") {
    run_without_names([](const SilentNameServer&) {
        ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); }};
        HttpTransport transport{local_names};
        for (const std::string name :
             {"healthy.test", "HEALTHY.test", "localhost", "Localhost", "xn--bcher-kva.test"}) {
            CAPTURE(name);
            const auto before = threads_of_this_process();
            const auto url = "http://" + name + ":" + std::to_string(healthy.port());
            const auto report = deliver(transport, delivery(url + "/events"));
            if (!report.outcome) MESSAGE(report.outcome.error().message());
            CHECK(report.outcome);
            CHECK(threads_of_this_process() <= before + 1);
        }
    });
}

TEST_CASE("an error about a host that does not exist names the host") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.replace("/etc/nsswitch.conf", "hosts: files\n");
        HttpTransport transport{local_names};
        const auto report = deliver(transport, delivery("http://nosuch.test/events"));
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK(report.outcome.error().context().find("nosuch.test") != std::string::npos);
        // A second lookup finds the name.
        ScriptedReceiver healthy{[](const ReceivedRequest&) { return status(204); }};
        network.replace("/etc/hosts", "127.0.0.1 nosuch.test\n");
        const auto url = "http://nosuch.test:" + std::to_string(healthy.port()) + "/events";
        CHECK(deliver(transport, delivery(url)).outcome);
    });
}

TEST_CASE("a transport whose lookups hang is destroyed at once") {
    run_without_names([](const SilentNameServer&) {
        DeliveryReports reports;
        const auto begun = std::chrono::steady_clock::now();
        {
            HttpTransport transport{local_names};
            for (int i = 0; i < 100; ++i) {
                transport.deliver(delivery("http://n" + std::to_string(i) + ".silent.test/events"),
                                  reports.keep());
            }
            std::this_thread::sleep_for(50ms);
        }
        CHECK(std::chrono::steady_clock::now() - begun < 500ms);
        CHECK(reports.all().size() == 100);
        for (const auto& report : reports.all()) {
            REQUIRE_FALSE(report.outcome);
            CHECK(report.outcome.error().code() == Errc::cancelled);
        }
    });
}

TEST_CASE("when one of two addresses of a host drops packets, no delivery fails") {
    PrivateNetwork::run([](PrivateNetwork& network) {
        network.replace("/etc/nsswitch.conf", "hosts: files\n");
        network.replace("/etc/hosts", "127.0.0.2 twin.test\n127.0.0.3 twin.test\n");
        constexpr std::uint32_t second = INADDR_LOOPBACK + 1;
        constexpr std::uint32_t third = INADDR_LOOPBACK + 2;
        for (const auto alive : {second, third}) {
            const auto dead = alive == second ? third : second;
            CAPTURE(dead);
            ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }, alive};
            const test::FullListener silent{dead, receiver.port()};
            const auto url = "http://twin.test:" + std::to_string(receiver.port()) + "/events";
            HttpTransportOptions options = local_names;
            options.connect_timeout = 2'000ms;
            HttpTransport transport{options};
            for (int i = 0; i < 2; ++i) CHECK(deliver(transport, delivery(url)).outcome);
            CHECK(receiver.connections() == 1);
        }
    });
}
