// Calls with completion tokens of Asio.

#include <doctest/doctest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "routemaster/asio.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/embedded.hpp"
#include "support/temporary_folder.hpp"

namespace asio = boost::asio;
using namespace routemaster;

namespace {

class Scene {
public:
    JobQueue& jobs() { return jobs_; }

private:
    test::TemporaryFolder folder_;
    EmbeddedStore store_{folder_.path() / "bus.db"};
    JobQueue jobs_{store_, "work"};
};

/// A call whose `done` is called by the test.
struct ManualCall {
    using Done = std::function<void(Result<int>)>;

    Result<int> operator()() { return 0; }
    void operator()(Done done) { *kept = std::move(done); }

    std::shared_ptr<Done> kept = std::make_shared<Done>();
};

}  // namespace

TEST_CASE("a coroutine awaits calls, and resumes on its I/O context") {
    Scene scene;
    asio::io_context context;
    bool found = false;
    bool resumed_here = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto thread = std::this_thread::get_id();
            const Job job{"resize", {1}};
            const auto pushed = co_await async_call(
                [&](auto... done) { return scene.jobs().push(job, {}, done...); },
                asio::use_awaitable);
            resumed_here = std::this_thread::get_id() == thread;
            const auto id = pushed.value().id;
            const auto status = co_await async_call(
                [&](auto... done) { return scene.jobs().find(id, done...); }, asio::use_awaitable);
            found = status.value().has_value();
        },
        asio::detached);
    context.run();  // Does not return while the call is under way.
    CHECK(resumed_here);
    CHECK(found);
}

TEST_CASE("a completion handler runs on its I/O context, never inside the call") {
    asio::io_context context;
    int value = 0;
    struct Early {
        Result<int> operator()() { return 0; }
        void operator()(const std::function<void(Result<int>)>& done) { done(8); }
    };
    async_call(Early{}, asio::bind_executor(
                            context, [&](const Result<int>& result) { value = result.value(); }));
    CHECK(value == 0);
    context.run();
    CHECK(value == 8);
}

TEST_CASE("a call with boost::asio::use_future returns a future with the result") {
    Scene scene;
    auto status =
        async_call([&](auto... done) { return scene.jobs().status(done...); }, asio::use_future);
    CHECK(status.get().value().ready == 0);
}

TEST_CASE("an I/O context may be destroyed before the result of a call arrives") {
    const ManualCall call;
    bool resumed = false;
    {
        asio::io_context context;
        asio::co_spawn(
            context,
            [&]() -> asio::awaitable<void> {
                static_cast<void>(co_await async_call(call, asio::use_awaitable));
                resumed = true;
            },
            asio::detached);
        context.poll();
        REQUIRE(*call.kept);
        *call.kept = {};
    }
    CHECK(!resumed);
}
