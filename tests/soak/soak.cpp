/// @file
/// Runs the bus at full load for a long time, with repeated kills and dead subscribers: soak
/// [SECONDS [SEED]]
///
/// Thirty-two clients publish without pause, each to its own topic, to four healthy subscribers.
/// Fifteen further subscribers accept no connection, never respond, or always fail; a third of them
/// has a `max_in_flight` of 1000. They get events only for the first minute: from then on their
/// backlog is constant, and so must be the memory of the bus. The bus stores its data in a file,
/// and is killed every 3 to 60 s. In the end each event whose publication got a 200 must have
/// arrived at each healthy subscriber, the first time in the order of its publisher. Prints the
/// results. Exits with 1 when an event is missing or out of order.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "routemaster/random.hpp"
#include "routemaster/server/http_server.hpp"
#include "support/full_listener.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

namespace {

constexpr std::size_t publishers = 32;
constexpr std::size_t healthy = 4;
constexpr std::size_t sick = 15;
constexpr std::chrono::seconds alarms_for{60};
constexpr std::string_view url_head = "https://s.example/";

/// `prefix` and two letters for `number`, without digits.
std::string name_of(std::string prefix, std::size_t number) {
    prefix.push_back(static_cast<char>('a' + number / 26));
    prefix.push_back(static_cast<char>('a' + number % 26));
    return prefix;
}

/// The events of one publisher.
struct Published {
    std::uint32_t next = 0;            ///< The number of the next event.
    std::set<std::uint32_t> in_doubt;  ///< Events without a response of 200.
};

/// The events received by one healthy subscriber.
///
/// Thread safety: all members may be called from any thread.
class Inbox {
public:
    void take(std::size_t publisher, std::uint32_t number) {
        const std::lock_guard lock{mutex_};
        auto& seen = seen_[publisher];
        if (number >= seen.size()) seen.resize(number + 1 + seen.size() / 2);
        if (seen[number]) {
            ++repeated_;
            return;
        }
        seen[number] = true;
        ++arrived_;
        if (number < newest_[publisher]) ++disordered_;
        newest_[publisher] = std::max(newest_[publisher], number);
    }

    /// The number of missing events whose publication got a 200.
    std::uint64_t missing(const std::array<Published, publishers>& published) {
        const std::lock_guard lock{mutex_};
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < publishers; ++i) {
            for (std::uint32_t number = 0; number < published[i].next; ++number) {
                if (number < seen_[i].size() && seen_[i][number]) continue;
                if (!published[i].in_doubt.contains(number)) ++count;
            }
        }
        return count;
    }

    std::uint64_t arrived() {
        const std::lock_guard lock{mutex_};
        return arrived_;
    }
    std::uint64_t repeated() {
        const std::lock_guard lock{mutex_};
        return repeated_;
    }
    std::uint64_t disordered() {
        const std::lock_guard lock{mutex_};
        return disordered_;
    }

private:
    std::mutex mutex_;  // Guards the next members.
    std::array<std::vector<bool>, publishers> seen_;
    std::array<std::uint32_t, publishers> newest_{};
    std::uint64_t arrived_ = 0;
    std::uint64_t repeated_ = 0;
    std::uint64_t disordered_ = 0;
};

/// Records the events of a batch by their URLs, and ignores everything else.
void read_batch(Inbox& inbox, std::string_view body) {
    for (auto at = body.find(url_head); at != std::string_view::npos;
         at = body.find(url_head, at + 1)) {
        const char* const end = body.data() + body.size();
        std::size_t publisher = 0;
        std::uint32_t number = 0;
        const auto slash = std::from_chars(body.data() + at + url_head.size(), end, publisher).ptr;
        std::from_chars(slash + 1, end, number);
        inbox.take(publisher, number);
    }
}

/// Publishes until `stopped`, with a new connection after each failure.
void publish(std::size_t publisher, const std::atomic<std::uint16_t>& port,
             const std::atomic<bool>& stopped, Published& published) {
    const auto target = "/topics/" + name_of("load_", publisher);
    const auto credentials = test::authorization(name_of("publisher-", publisher));
    while (!stopped) {
        try {
            test::HttpClient client{port};
            while (!stopped) {
                const auto number = published.next++;
                published.in_doubt.insert(number);
                const auto url = std::string{url_head} + std::to_string(publisher) + '/' +
                                 std::to_string(number);
                const auto reply =
                    client.ask("POST", target, test::BusFront::event_json(url), credentials);
                if (reply.status != 200) throw std::runtime_error{"refused"};
                published.in_doubt.erase(number);
            }
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(10ms);
        }
    }
}

std::uint64_t resident_kib(pid_t pid) {
    std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
    }
    return 0;
}

void demand(const test::HttpReply& reply) {
    if (reply.status / 100 != 2) throw std::runtime_error{"refused: " + reply.body};
}

/// The receivers, by path: `/h0` and so on are healthy, `/silent` never responds, `/failing` always
/// fails.
class Receivers {
public:
    Receivers()
        : server_{{.threads = 2, .body_max = 64U << 20U},
                  [this](const HttpRequest& request, const HttpResponder& respond) {
                      receive(request, respond);
                  }} {}

    [[nodiscard]] std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(server_.port()) + path;
    }

    std::array<Inbox, healthy> inboxes;

private:
    void receive(const HttpRequest& request, const HttpResponder& respond) {
        if (request.path.starts_with("/h")) {
            read_batch(inboxes.at(std::stoul(request.path.substr(2))), request.body);
            return respond({204, {}, {}, {}});
        }
        if (request.path == "/failing") return respond({500, {}, {}, {}});
        const std::lock_guard lock{mutex_};
        unanswered_.push_back(respond);
        // Old requests belong to closed connections.
        if (unanswered_.size() > 20'000) unanswered_.pop_front();
    }

    std::mutex mutex_;  // Guards `unanswered_`.
    std::deque<HttpResponder> unanswered_;
    HttpServer server_;
};

void set_up(const test::RunningBus& bus, const Receivers& receivers,
            const test::FullListener& black_hole) {
    const auto authorize = [&](const std::string& token) {
        demand(bus.ask("POST", "/api_tokens", test::root_key,
                       R"({"name":"soak","token":")" + token + R"("})"));
    };
    std::string topics;
    for (std::size_t i = 0; i < publishers; ++i) {
        authorize(name_of("publisher-", i));
        topics += (i == 0 ? "[\"" : ",\"") + name_of("load_", i) + '"';
    }
    topics += ']';
    for (std::size_t i = 0; i < healthy; ++i) {
        const auto token = "healthy-" + std::to_string(i);
        authorize(token);
        demand(bus.subscribe(token, topics, receivers.url("/h" + std::to_string(i)),
                             R"("timeout":20,"max":100)"));
    }
    const std::array callbacks{"http://127.0.0.1:" + std::to_string(black_hole.port()),
                               receivers.url("/silent"), receivers.url("/failing")};
    for (std::size_t i = 0; i < sick; ++i) {
        const auto token = "sick-" + std::to_string(i);
        authorize(token);
        const std::string settings = R"("timeout":0,"max":1,"max_in_flight":)";
        demand(bus.subscribe(token, R"(["alarms"])", callbacks[i % callbacks.size()],
                             settings + (i % 3 == 0 ? "1000" : "1")));
    }
}

int soak(std::chrono::seconds duration, std::uint64_t seed) {
    Random random{seed};
    const test::TemporaryFolder folder;
    const test::FullListener black_hole;
    Receivers receivers;
    test::RunningBus bus{folder.path(), {"--log-level", "ERROR"}};
    set_up(bus, receivers, black_hole);

    std::atomic<std::uint16_t> port{bus.port()};
    std::atomic<bool> stopped = false;
    std::array<Published, publishers> published;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < publishers; ++i) {
        threads.emplace_back([&, i] { publish(i, port, stopped, published[i]); });
    }

    const auto began = SteadyClock::now();
    int kills = 0;
    std::uint64_t alarms = 0;
    while (SteadyClock::now() - began < duration) {
        const auto life = std::chrono::milliseconds{3'000 + random.below(57'000)};
        const auto born = SteadyClock::now();
        while (SteadyClock::now() - born < life) {
            if (SteadyClock::now() - began < alarms_for) {
                alarms += bus.ask("POST", "/topics/alarms", name_of("publisher-", 0),
                                  bus.event_json("https://s.example/alarm"))
                              .status == 200;
            }
            std::this_thread::sleep_for(50ms);
        }
        const auto at =
            std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now() - began);
        std::printf("%4lld s: %llu arrived, %llu KiB resident\n",
                    static_cast<long long>(at.count()),
                    static_cast<unsigned long long>(receivers.inboxes[0].arrived()),
                    static_cast<unsigned long long>(resident_kib(bus.process().pid())));
        std::fflush(stdout);
        bus.kill();
        bus.start();
        port = bus.port();
        ++kills;
    }
    stopped = true;
    threads.clear();

    const auto missing = [&] {
        std::uint64_t count = 0;
        for (auto& inbox : receivers.inboxes) count += inbox.missing(published);
        return count;
    };
    for (int i = 0; i < 120 && missing() > 0; ++i) std::this_thread::sleep_for(1s);

    std::uint64_t acknowledged = 0;
    std::uint64_t in_doubt = 0;
    for (const auto& each : published) {
        acknowledged += each.next - each.in_doubt.size();
        in_doubt += each.in_doubt.size();
    }
    std::uint64_t repeated = 0;
    std::uint64_t disordered = 0;
    for (auto& inbox : receivers.inboxes) {
        repeated += inbox.repeated();
        disordered += inbox.disordered();
    }
    const auto lost = missing();
    std::printf(
        "seed %llu: %d kills, %llu events acknowledged, %llu in doubt, %llu alarms; "
        "at %zu subscribers %llu lost, %llu out of order, %llu repeated\n",
        static_cast<unsigned long long>(seed), kills, static_cast<unsigned long long>(acknowledged),
        static_cast<unsigned long long>(in_doubt), static_cast<unsigned long long>(alarms), healthy,
        static_cast<unsigned long long>(lost), static_cast<unsigned long long>(disordered),
        static_cast<unsigned long long>(repeated));
    return lost == 0 && disordered == 0 && acknowledged > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    // The checks of the test helpers need a doctest context.
    doctest::Context checks;
    checks.setAsDefaultForAssertsOutOfTestCases();
    checks.setAssertHandler([](const doctest::AssertData& data) {
        if (!data.m_failed) return;
        std::fprintf(stderr, "%s:%d: %s\n", data.m_file, data.m_line, data.m_expr);
        std::exit(1);
    });
    const std::chrono::seconds duration{argc > 1 ? std::stoi(argv[1]) : 600};
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    return soak(duration, seed);
}
