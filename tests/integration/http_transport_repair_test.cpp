#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "routemaster/transport/http.hpp"
#include "support/await.hpp"
#include "support/deliveries.hpp"
#include "support/forked_child.hpp"
#include "support/recorded_log.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::status;

namespace {

const HttpTransportOptions local_hosts{.allow_http = true, .allow_loopback = true};

/// The descriptors of this process that are epoll sets.
std::vector<int> epoll_sets() {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        std::error_code gone;
        const auto what = std::filesystem::read_symlink(entry.path(), gone);
        if (!gone && what == "anon_inode:[eventpoll]") {
            found.push_back(std::stoi(entry.path().filename()));
        }
    }
    return found;
}

/// Replaces a descriptor by a different file, as a faulty part of a program does when it closes a
/// descriptor that it does not own.
void damage(int descriptor) {
    const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(::dup3(other, descriptor, O_CLOEXEC) == descriptor);
    ::close(other);
}

std::ptrdiff_t silent_requests(const ScriptedReceiver& receiver) {
    const auto all = receiver.requests();
    return std::count_if(all.begin(), all.end(),
                         [](const auto& request) { return request.target() == "/silent"; });
}

/// As long as this object exists, the process can open no more descriptors.
class NoDescriptors {
public:
    NoDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 0;
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
};

/// Leaves the process so many descriptors besides the open ones.
void limit_descriptors(rlim_t left) {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(next) + left;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/// The URL of the receiver with a name instead of an address.
std::string url_by_name(const ScriptedReceiver& receiver) {
    return "http://localhost:" + std::to_string(receiver.port()) + "/events";
}

}  // namespace

TEST_CASE(
    "a transport that breaks logs the failure, fails its deliveries under way, and restarts") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        return request.target() == "/silent" ? test::silence() : status(204);
    }};
    const auto others = epoll_sets();
    test::RecordedLog log;
    HttpTransportOptions options = local_hosts;
    options.log = log.sink();
    HttpTransport transport{options};
    for (int round = 0; round < 2; ++round) {
        CAPTURE(round);
        REQUIRE(deliver(transport, delivery(receiver.url())).outcome);
        DeliveryReports cancelled;
        for (int i = 0; i < 5; ++i) {
            transport.deliver(delivery(receiver.url("/silent")), cancelled.keep());
        }
        REQUIRE(test::await([&] { return silent_requests(receiver) == 5 * (round + 1); }));
        for (const int each : epoll_sets()) {
            if (std::find(others.begin(), others.end(), each) == others.end()) damage(each);
        }
        // Wakes the transport. This delivery succeeds after the restart, or fails with the rest.
        DeliveryReports first;
        transport.deliver(delivery(receiver.url()), first.keep());
        for (const auto& report : cancelled.wait_for(5)) {
            REQUIRE_FALSE(report.outcome);
            CHECK(report.outcome.error().code() == Errc::unavailable);
            CHECK(report.outcome.error().context().find("epoll") != std::string::npos);
        }
        std::ignore = first.wait_for(1);
        CHECK(deliver(transport, delivery(receiver.url())).outcome);
        CHECK(test::await([&] { return !transport.trouble(); }));
    }
    // The thread for unhealthy subscribers sleeps, and does not notice the damage, unless a busy
    // machine has delayed its sleep.
    const auto restarts = log.count(LogLevel::error, "restarts");
    CHECK(restarts >= 2);
    CHECK(restarts <= 4);
}

TEST_CASE(
    "without file descriptors, deliveries wait, and an error is reported until some are free") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    std::string url;
    SUBCASE("the descriptor is missing for a connection") { url = receiver.url(); }
    SUBCASE("the descriptor is missing for a name lookup") { url = url_by_name(receiver); }
    DeliveryReports reports;
    HttpTransport transport{local_hosts};
    {
        const NoDescriptors none;
        transport.deliver(delivery(url), reports.keep());
        std::this_thread::sleep_for(250ms);
        CHECK(reports.all().empty());
        REQUIRE(transport.trouble());
        CHECK(*transport.trouble() == "no socket: Too many open files");
    }
    CHECK_FALSE(transport.trouble());
    CHECK(reports.wait_for(1).front().outcome);
    CHECK(receiver.requests().size() == 1);
}

TEST_CASE("a delivery that has waited for a file descriptor for total_timeout fails") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    std::string url;
    std::string error;
    SUBCASE("the descriptor is missing for a connection") {
        url = receiver.url();
        error = "no socket: Too many open files";
    }
    SUBCASE("the descriptor is missing for a name lookup") {
        url = url_by_name(receiver);
        error = "cannot resolve localhost: Too many open files";
    }
    HttpTransportOptions options = local_hosts;
    options.total_timeout = 300ms;
    HttpTransport transport{options};
    {
        const NoDescriptors none;
        const auto begun = std::chrono::steady_clock::now();
        const auto report = deliver(transport, delivery(url));
        CHECK(std::chrono::steady_clock::now() - begun >= options.total_timeout);
        REQUIRE_FALSE(report.outcome);
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK(report.outcome.error().context() == error);
    }
    CHECK(deliver(transport, delivery(receiver.url())).outcome);
}

TEST_CASE("in a process with few file descriptors all deliveries succeed") {
    // The receiver has the descriptors of this process, and the transport those of the child.
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }, INADDR_ANY};
    const auto callback = [&](std::size_t number) {
        return "http://127.0.0." + std::to_string(number + 1) + ":" +
               std::to_string(receiver.port()) + "/";
    };
    const auto failed = [](const std::vector<DeliveryReport>& reports) {
        std::string errors;
        for (const auto& report : reports) {
            if (!report.outcome) errors += report.outcome.error().context() + "; ";
        }
        return errors;
    };
    std::size_t deliveries = 0;
    bool at_once = false;
    SUBCASE("the deliveries begin at once") {
        deliveries = 200;
        at_once = true;
    }
    SUBCASE("the deliveries follow one another, while idle connections stay open") {
        deliveries = 50;
    }
    const auto report = test::in_child([&] {
        limit_descriptors(40);
        DeliveryReports reports;
        HttpTransport transport{local_hosts};
        for (std::size_t i = 0; i < deliveries; ++i) {
            transport.deliver(delivery(callback(i)), reports.keep());
            if (!at_once) std::ignore = reports.wait_for(i + 1);
        }
        return failed(reports.wait_for(deliveries));
    });
    CHECK(report.exited());
    CHECK(report.text.empty());
    CHECK(receiver.requests().size() == deliveries);
}

TEST_CASE(
    "a transport that cannot restart reports the failure, lets deliveries wait, and retries") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports first;
    DeliveryReports reports;
    const auto others = epoll_sets();
    HttpTransport transport{local_hosts};
    REQUIRE(deliver(transport, delivery(receiver.url())).outcome);
    auto own = epoll_sets();
    std::erase_if(own, [&](int each) {
        return std::find(others.begin(), others.end(), each) != others.end();
    });
    {
        // From here on the transport cannot restart. It may notice the damage at any time, because
        // the numbers of the descriptors are not used again.
        const NoDescriptors none;
        for (const int each : own) ::close(each);
        // Wakes the transport. This delivery fails with the deliveries under way, or waits for the
        // restart.
        transport.deliver(delivery(receiver.url()), first.keep());
        REQUIRE(test::await([&] {
            const auto trouble = transport.trouble();
            return trouble && trouble->find("cannot restart") != std::string::npos;
        }));
        transport.deliver(delivery(receiver.url()), reports.keep());
        std::this_thread::sleep_for(50ms);
        CHECK(reports.all().empty());
    }
    CHECK(reports.wait_for(1).front().outcome);
    std::ignore = first.wait_for(1);
    CHECK(test::await([&] { return !transport.trouble(); }));
}
