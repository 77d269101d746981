// Objects of a process, used in its forked children.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/action_runner.hpp"
#include "routemaster/admission_control.hpp"
#include "routemaster/autodrop.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/monitor.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/embedded_file.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/timer_requests.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/transport/local.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/await.hpp"
#include "support/example_events.hpp"
#include "support/forked_child.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::in_child;

namespace {

std::string opened_here(const std::string& object = "store") {
    return "invalid: " + object + ": opened by process " + std::to_string(getpid()) +
           "; open it after fork";
}

std::string made_here(const std::string& object) {
    return "invalid: " + object + ": made by process " + std::to_string(getpid()) +
           "; make it after fork";
}

/// Collects calls whose results differ from the expected text.
class Answers {
public:
    explicit Answers(std::string expected) : expected_{std::move(expected)} {}

    template <class Answer>
    void expect(const char* call, const Result<Answer>& answer) {
        note(call, answer ? "a value" : test::text_of(answer.error()));
    }
    void expect_thrown(const char* call, const std::function<void()>& made) {
        note(call, test::thrown_by(made));
    }
    [[nodiscard]] const std::string& others() const { return others_; }

private:
    void note(const char* call, const std::string& text) {
        if (text != expected_) others_ += std::string{call} + " -> " + text + "\n";
    }

    const std::string expected_;
    std::string others_;
};

/// Makes calls of each kind.
std::string calls_of(Store& store, const std::string& expected) {
    Answers answers{expected};
    JobQueue jobs{store, "work"};
    Bus bus{store};
    answers.expect("push", jobs.push({"resize", {1}}));
    answers.expect("status", jobs.status());
    answers.expect("publish", bus.publish(test::order));
    answers.expect("subscribers", bus.subscribers());
    answers.expect("post", Delayer{store, "calls"}.post("now", Duration{0}));
    std::promise<std::string> told;
    jobs.push({"resize", {2}}, {}, [&](const auto& pushed) {
        told.set_value(pushed ? "a value" : test::text_of(pushed.error()));
    });
    if (told.get_future().get() != expected) return "push with a completion";
    answers.expect_thrown("watch", [&] { static_cast<void>(store.watch("work", [] {})); });
    answers.expect_thrown("listen", [&] {
        static_cast<void>(Delayer{store, "calls"}.listen([](const Timer&) {}));
    });
    return answers.others();
}

/// Keeps a store busy from a second thread.
class Traffic {
public:
    explicit Traffic(Store& store)
        : thread_{[this, &store](const std::stop_token& stopped) {
              JobQueue jobs{store, "traffic"};
              for (int number = 0; !stopped.stop_requested(); ++number) {
                  if (jobs.push({"resize", {number}})) ++pushed_;
              }
          }} {}

    [[nodiscard]] int pushed() const { return pushed_; }

private:
    std::atomic<int> pushed_{0};
    std::jthread thread_;
};

/// Whether another process has SQLite's lock on the file.
bool locked_by_another(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000000;
    lock.l_len = 512;
    const bool asked = ::fcntl(descriptor, F_GETLK, &lock) == 0;
    ::close(descriptor);
    return asked && lock.l_type != F_UNLCK;
}

std::unique_ptr<EmbeddedStore> store_in(const test::TemporaryFolder& folder) {
    return std::make_unique<EmbeddedStore>(folder.path() / "bus.db");
}

/// The open files of a program that a child of this process executes, except pipes.
std::set<std::string> files_of_another_program() {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe[1], STDOUT_FILENO);
        ::execl("/bin/sh", "sh", "-c", "readlink /proc/$$/fd/*", nullptr);
        ::_exit(127);
    }
    ::close(pipe[1]);
    std::istringstream lines{test::read_all(pipe[0])};
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    std::set<std::string> files;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("pipe:")) files.insert(line);
    }
    return files;
}

constexpr int forks = 40;

}  // namespace

TEST_CASE("a forked child cannot use a store of its parent, and gets an error at once") {
    const test::TemporaryFolder folder;
    std::vector<std::unique_ptr<Store>> stores;
    stores.push_back(std::make_unique<MemoryStore>());
    stores.push_back(store_in(folder));
    for (auto& store : stores) {
        const auto watch = store->watch("work", [] {});
        const Traffic traffic{*store};
        const auto expected = opened_here();
        for (int number = 0; number < forks; ++number) {
            const auto report = in_child([&] { return calls_of(*store, expected); });
            REQUIRE(report.exited());
            REQUIRE(report.text == "");
        }
        const int before = traffic.pushed();
        CHECK(test::await([&] { return traffic.pushed() > before; }));
    }
}

TEST_CASE("destroying a watch in a forked child does not wait for a wake-up in the parent") {
    MemoryStore store;
    std::promise<void> woken;
    std::promise<void> forked;
    const auto slow = store.watch("work", [&] {
        woken.set_value();
        forked.get_future().wait();
    });
    auto watch = std::make_optional(store.watch("work", [] {}));
    std::jthread pushing{[&] { JobQueue{store, "work"}.push({"resize", {1}}).value(); }};
    woken.get_future().wait();  // The wake-up runs, under the lock of the watches.
    const auto report = in_child([&]() -> std::string {
        watch.reset();
        return "ended";
    });
    forked.set_value();
    CHECK(report.text == "ended");
}

TEST_CASE("destroying a file store in a forked child leaves the store of the parent locked") {
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    std::optional<EmbeddedStore> store{std::in_place, file};
    int pushed = 0;
    {
        const Traffic traffic{*store};
        for (int number = 0; number < forks; ++number) {
            const auto report = in_child([&]() -> std::string {
                store.reset();
                return locked_by_another(file) ? "locked" : "not locked";
            });
            REQUIRE(report.exited());
            REQUIRE(report.text == "locked");
        }
        const int before = traffic.pushed();
        REQUIRE(test::await([&] { return traffic.pushed() > before; }));
        pushed = before;
    }
    CHECK(locked_by_another(file) == false);  // This process owns the lock itself.
    store.reset();
    store.emplace(file);
    CHECK(JobQueue{*store, "traffic"}.status().value().ready >= static_cast<std::size_t>(pushed));
}

TEST_CASE("a forked child ends by exit, whichever objects it has destroyed") {
    const test::TemporaryFolder folder;
    static std::unique_ptr<Store> store;
    static std::optional<WorkerPool> pool;
    store = store_in(folder);
    pool.emplace(*store, WorkerPoolOptions{.queues = {"traffic"}, .threads = 2});
    std::atomic<int> handled{0};
    pool->handle("resize", [&](JobContext&) { ++handled; });
    pool->start();
    {
        const Traffic traffic{*store};
        for (int number = 0; number < forks; ++number) {
            const auto report =
                in_child([] { return std::string{"ends"}; }, test::ChildEnd::after_statics);
            REQUIRE(report.exited());
            REQUIRE(report.text == "ends");
        }
        const int before = handled;
        CHECK(test::await([&] { return handled > before; }));
    }
    pool.reset();
    store.reset();
}

TEST_CASE("a child forked by another thread cannot use a store of its parent") {
    const test::TemporaryFolder folder;
    auto store = store_in(folder);
    const Traffic traffic{*store};
    const auto expected = opened_here();
    std::jthread{[&] {
        const auto report = in_child([&] {
            auto others = calls_of(*store, expected);
            store.reset();
            return others;
        });
        CHECK(report.exited());
        CHECK(report.text == "");
    }}.join();
    CHECK(JobQueue{*store, "work"}.push({"resize", {1}}).has_value());
}

TEST_CASE("a forked child can open another file, but not the file that its parent has open" *
          doctest::skip(!test::child_may_start_threads)) {
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    const EmbeddedStore store{file};
    const auto expected = opened_here(file.string());
    const auto report = in_child([&]() -> std::string {
        if (const auto text = test::thrown_by([&] { const EmbeddedStore again{file}; });
            text != expected) {
            return text;
        }
        EmbeddedStore own{folder.path() / "own.db"};
        return JobQueue{own, "work"}.push({"resize", {1}}) ? "pushed" : "not pushed";
    });
    CHECK(report.exited());
    CHECK(report.text == "pushed");
}

TEST_CASE("a program that becomes a daemon must open its store again" *
          doctest::skip(!test::child_may_start_threads)) {
    const test::TemporaryFolder folder;
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const auto starter = in_child([&]() -> std::string {
        auto store = store_in(folder);
        const auto expected = opened_here();
        if (::daemon(1, 1) != 0) return "no daemon";
        std::string others = calls_of(*store, expected) + "ended";
        store.reset();
        static_cast<void>(!::write(pipe[1], others.data(), others.size()));
        ::_exit(0);
    });
    ::close(pipe[1]);
    CHECK(starter.exited());
    CHECK(test::read_all(pipe[0]) == "ended");
}

TEST_CASE("an executed program inherits no file descriptor of the library") {
    const test::TemporaryFolder folder;
    const auto before = files_of_another_program();
    auto store = store_in(folder);
    const HttpServer server{{.address = "127.0.0.1", .port = 0}, test::echo};
    test::HttpClient client{server.port()};
    REQUIRE(client.ask("GET", "/").status == 200);
    WorkerPool pool{*store, {.queues = {"work"}}};
    pool.start();
    JobQueue jobs{*store, "other"};
    REQUIRE(jobs.push({"resize", {1}}).has_value());
    CHECK(files_of_another_program() == before);
    CHECK(jobs.push({"resize", {2}}).has_value());
}

TEST_CASE("in a forked child, objects with threads refuse calls, and can be destroyed") {
    MemoryStore store;
    Bus bus{store};
    bus.subscriber("billing").subscribe({"orders"}, [](const Batch&) {}).value();
    const auto refused = [](const char* object, const std::function<void()>& call,
                            const std::function<void()>& destroy) {
        CAPTURE(object);
        const auto report = in_child([&] {
            auto text = test::thrown_by(call);
            destroy();
            return text;
        });
        CHECK(report.exited());
        CHECK(report.text == made_here(object));
    };

    std::optional<WorkerPool> pool{std::in_place, store, WorkerPoolOptions{.queues = {"work"}}};
    pool->start();
    const auto end_pool = [&] { pool.reset(); };
    refused(
        "worker pool", [&] { pool->stop(Duration{0}); }, end_pool);
    refused(
        "worker pool", [&] { static_cast<void>(pool->status()); }, end_pool);
    refused(
        "worker pool", [&] { static_cast<void>(pool->trouble()); }, end_pool);
    refused(
        "worker pool", [&] { pool->run({}); }, end_pool);
    refused(
        "worker pool", [&] { pool->poll(from_milliseconds(1)); }, end_pool);
    refused(
        "worker pool", [&] { pool->handle("resize", [](JobContext&) {}); }, end_pool);

    Delayer calls{store, "calls"};
    std::optional<TimerListener> listener{calls.listen([](const Timer&) {})};
    refused(
        "timer listener", [&] { listener->stop(Duration{0}); }, [&] { listener.reset(); });
    refused(
        "timer listener", [&] { static_cast<void>(listener->status()); },
        [&] { const TimerListener moved{*std::move(listener)}; });

    std::optional<DeliveryWorker> worker{std::in_place, bus};
    refused(
        "delivery worker", [&] { worker->stop(Duration{0}); }, [&] { worker.reset(); });
    refused(
        "delivery worker", [&] { static_cast<void>(worker->trouble()); }, [&] { worker.reset(); });

    std::optional<LocalTransport> local{std::in_place, bus.callbacks()};
    refused(
        "local transport", [&] { static_cast<void>(local->destinations()); },
        [&] { local.reset(); });

    std::optional<HttpTransport> http{std::in_place};
    refused(
        "HTTP transport", [&] { static_cast<void>(http->trouble()); }, [&] { http.reset(); });
    refused(
        "HTTP transport",
        [&] {
            std::promise<Result<void>> outcome;
            http->deliver({.callback = "https://127.0.0.1:1/"},
                          [&](const DeliveryReport& report) { outcome.set_value(report.outcome); });
            outcome.get_future().get().value();
        },
        [&] { http.reset(); });

    std::optional<HttpServer> server{
        std::in_place, HttpServerOptions{.address = "127.0.0.1", .port = 0}, test::echo};
    refused(
        "HTTP server", [&] { server->stop(Duration{0}); }, [&] { server.reset(); });
    refused(
        "HTTP server", [&] { static_cast<void>(server->port()); }, [&] { server.reset(); });

    std::optional<Monitor> monitor{std::in_place, store, MonitorOptions{}};
    std::optional<Runner> runner{std::in_place, *monitor};
    refused(
        "runner", [&] { runner->stop(Duration{0}); }, [&] { runner.reset(); });
    refused(
        "runner", [&] { static_cast<void>(runner->trouble()); }, [&] { runner.reset(); });
    refused(
        "monitor", [&] { monitor->poll(from_milliseconds(1)); },
        [&] { runner.reset(), monitor.reset(); });
}

TEST_CASE("in a forked child, objects that the program polls refuse calls") {
    MemoryStore store;
    const std::map<std::string, std::shared_ptr<Active>> all{
        {"action runner", std::make_shared<ActionRunner>(store)},
        {"admission control", std::make_shared<AdmissionControl>(store)},
        {"autodrop", std::make_shared<Autodrop>(store)},
        {"job leases", std::make_shared<JobLeases>(store)},
        {"monitor", std::make_shared<Monitor>(store, MonitorOptions{})},
        {"recurring scheduler", std::make_shared<RecurringScheduler>(store)},
        {"timer requests", std::make_shared<TimerRequests>(store)},
    };
    for (const auto& [object, active] : all) {
        const auto& name = object;  // Structured bindings cannot be captured.
        CAPTURE(name);
        const auto report = in_child([&active = active] {
            auto text = test::thrown_by([&] { active->poll(from_milliseconds(1)); });
            return text + "; " + test::thrown_by([&] { static_cast<void>(active->closed()); });
        });
        CHECK(report.exited());
        CHECK(report.text == made_here(object) + "; " + made_here(object));
    }
}

TEST_CASE("destroying an HTTP server in a forked child does not affect the parent's connections") {
    std::optional<HttpServer> server{
        std::in_place, HttpServerOptions{.address = "127.0.0.1", .port = 0}, test::echo};
    test::HttpClient client{server->port()};
    REQUIRE(client.ask("GET", "/before").status == 200);
    const auto report = in_child(
        [&]() -> std::string {
            server.reset();
            return "destroyed";
        },
        test::ChildEnd::after_statics);
    CHECK(report.text == "destroyed");
    CHECK(client.ask("GET", "/after").status == 200);
    test::HttpClient another{server->port()};
    CHECK(another.ask("GET", "/another").status == 200);
}

TEST_CASE("a forked child that returns from a handler is killed, and the job is done once") {
    const test::TemporaryFolder folder;
    auto store = store_in(folder);
    JobQueue jobs{*store, "work"};
    WorkerPool pool{*store, {.queues = {"work"}}};
    std::promise<int> ended;
    pool.handle("fork", [&](JobContext&) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGABRT, SIG_DFL);
            ::close(STDERR_FILENO);
            return;
        }
        int status = 0;
        ended.set_value(::waitpid(child, &status, 0) == child ? status : -1);
    });
    pool.start();
    jobs.push({"fork", {}}).value();
    auto status = ended.get_future();
    REQUIRE(status.wait_for(std::chrono::minutes{1}) == std::future_status::ready);
    const int got = status.get();
    CHECK(WIFSIGNALED(got));
    CHECK(test::await([&] { return jobs.status().value() == QueueStatus{}; }));
    CHECK(pool.status().done == 1);
}
