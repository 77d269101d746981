// Asynchronous calls, awaited by coroutines and futures.

#include <doctest/doctest.h>

#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/async.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "support/example_events.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;

namespace {

/// A coroutine that starts immediately. The destructor destroys it.
class Coroutine {
public:
    /// Announces the end once the coroutine is suspended, so that another thread may destroy it.
    struct End {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
            const auto error = handle.promise().error;
            auto ended = std::move(handle.promise().ended);
            error ? ended.set_exception(error) : ended.set_value();
        }
        void await_resume() const noexcept {}
    };

    struct promise_type {
        Coroutine get_return_object() {
            return Coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept { return End{}; }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }

        std::exception_ptr error;
        std::promise<void> ended;
    };

    Coroutine(Coroutine&& other) noexcept
        : handle_{std::exchange(other.handle_, nullptr)}, ended_{std::move(other.ended_)} {}
    Coroutine& operator=(Coroutine&&) = delete;
    ~Coroutine() {
        if (handle_) handle_.destroy();
    }

    /// Waits up to a minute for the end of the coroutine. Rethrows its exception.
    bool wait() {
        if (ended_.wait_for(std::chrono::minutes{1}) != std::future_status::ready) return false;
        ended_.get();
        return true;
    }
    [[nodiscard]] bool done() const { return handle_.done(); }

private:
    explicit Coroutine(std::coroutine_handle<promise_type> handle)
        : handle_{handle}, ended_{handle.promise().ended.get_future()} {}

    std::coroutine_handle<promise_type> handle_;
    std::future<void> ended_;
};

/// A call whose `done` is called by the test.
struct ManualCall {
    using Done = std::function<void(Result<int>)>;

    Result<int> operator()() { return 0; }
    void operator()(Done done) { *kept = std::move(done); }

    std::shared_ptr<Done> kept = std::make_shared<Done>();
};

Coroutine await_into(ManualCall call, std::optional<int>& value, Executor executor = {}) {
    const auto result = co_await async(std::move(call), std::move(executor));
    value = result.value();
}

}  // namespace

TEST_CASE("a coroutine can push a job and read the job back") {
    const test::TemporaryFolder folder;
    EmbeddedStore file{folder.path() / "bus.db"};
    MemoryStore memory;
    for (Store* store : {static_cast<Store*>(&file), static_cast<Store*>(&memory)}) {
        JobQueue jobs{*store, "work"};
        std::optional<JobStatus> found;
        auto coroutine = [](JobQueue& queue, std::optional<JobStatus>& status) -> Coroutine {
            const Job job{"resize", {1}};
            const auto pushed =
                co_await async([&](auto... done) { return queue.push(job, {}, done...); });
            const auto id = pushed.value().id;
            status =
                (co_await async([&](auto... done) { return queue.find(id, done...); })).value();
        }(jobs, found);
        REQUIRE(coroutine.wait());
        REQUIRE(found.has_value());
        CHECK(found->state == JobStatus::State::ready);
    }
}

TEST_CASE("a coroutine can publish many events in one call") {
    MemoryStore store;
    Bus bus{store};
    std::size_t accepted = 0;
    auto coroutine = [](Bus& to, std::size_t& count) -> Coroutine {
        const std::vector<Event> events(3, test::order);
        for (const auto& result :
             co_await async([&](auto... done) { return to.publish_many(events, done...); })) {
            if (result) ++count;
        }
    }(bus, accepted);
    REQUIRE(coroutine.wait());
    CHECK(accepted == 3);
}

TEST_CASE("a coroutine continues inside the call when the result is available at once") {
    MemoryStore store;
    JobQueue jobs{store, "no queue's name"};
    std::error_code code;
    const auto coroutine = [](JobQueue& queue, std::error_code& got) -> Coroutine {
        const auto status = co_await async([&](auto... done) { return queue.status(done...); });
        got = status.error().code();
    }(jobs, code);
    CHECK(coroutine.done());
    CHECK(code == Errc::invalid);
}

TEST_CASE("the executor resumes the coroutine, whether the result is early or late") {
    std::vector<std::function<void()>> posted;
    const Executor executor = [&](std::function<void()> work) {
        posted.push_back(std::move(work));
    };

    const ManualCall late;
    std::optional<int> value;
    const auto waiting = await_into(late, value, executor);
    (*late.kept)(7);
    CHECK(!value);
    REQUIRE(posted.size() == 1);
    posted.front()();
    CHECK(value == 7);
    CHECK(waiting.done());

    struct Early {
        Result<int> operator()() { return 0; }
        void operator()(const std::function<void(Result<int>)>& done) { done(8); }
    };
    std::optional<int> early;
    const auto served = [](std::optional<int>& got, Executor on) -> Coroutine {
        got = (co_await async(Early{}, std::move(on))).value();
    }(early, executor);
    CHECK(!early);
    REQUIRE(posted.size() == 2);
    posted.back()();
    CHECK(early == 8);
    CHECK(served.done());
}

TEST_CASE("the result of a call is dropped if its coroutine has been destroyed") {
    const ManualCall call;
    std::optional<int> value;
    { const auto destroyed = await_into(call, value); }
    (*call.kept)(7);
    CHECK(!value);
}

TEST_CASE("a coroutine that is destroyed before its resumption is never resumed") {
    std::vector<std::function<void()>> posted;
    const ManualCall call;
    std::optional<int> value;
    {
        const auto destroyed = await_into(
            call, value, [&](std::function<void()> work) { posted.push_back(std::move(work)); });
        (*call.kept)(7);
    }
    REQUIRE(posted.size() == 1);
    posted.front()();
    CHECK(!value);
}

TEST_CASE("a dropped call is a broken promise for its coroutine and for its future") {
    const ManualCall call;
    std::optional<int> value;
    auto coroutine = await_into(call, value);
    *call.kept = {};
    CHECK_THROWS_AS(coroutine.wait(), std::future_error);

    const ManualCall another;
    auto future = async_future(another);
    *another.kept = {};
    CHECK_THROWS_AS(static_cast<void>(future.get()), std::future_error);
}

TEST_CASE("a coroutine catches the exceptions of the call") {
    struct Throws {
        Result<int> operator()() { return 0; }
        void operator()(const std::function<void(Result<int>)>&) {
            throw std::runtime_error{"not started"};
        }
    };
    std::string caught;
    const auto coroutine = [](std::string& text) -> Coroutine {
        try {
            static_cast<void>(co_await async(Throws{}));
        } catch (const std::runtime_error& error) {
            text = error.what();
        }
    }(caught);
    CHECK(coroutine.done());
    CHECK(caught == "not started");
    CHECK_THROWS_AS(static_cast<void>(async_future(Throws{})), std::runtime_error);
}

TEST_CASE("a future gets the result of a call, and may be destroyed before") {
    const test::TemporaryFolder folder;
    EmbeddedStore store{folder.path() / "bus.db"};
    JobQueue jobs{store, "work"};
    const auto push = [&](int number) {
        return async_future([&jobs, job = Job{"resize", {number}}](auto... done) {
            return jobs.push(job, {}, done...);
        });
    };
    CHECK(push(1).get().has_value());
    static_cast<void>(push(2));
    CHECK(push(3).get().has_value());
    CHECK(jobs.status().value().ready == 3);
}

TEST_CASE("a thousand coroutines can wait for one file store at once") {
    const test::TemporaryFolder folder;
    EmbeddedStore store{folder.path() / "bus.db"};
    JobQueue jobs{store, "work"};
    std::vector<Coroutine> all;
    for (int number = 0; number < 1'000; ++number) {
        all.push_back([](JobQueue& queue, int argument) -> Coroutine {
            const Job job{"resize", {argument}};
            const auto pushed =
                co_await async([&](auto... done) { return queue.push(job, {}, done...); });
            pushed.value();
        }(jobs, number));
    }
    for (auto& coroutine : all) REQUIRE(coroutine.wait());
    CHECK(jobs.status().value().ready == 1'000);
}
