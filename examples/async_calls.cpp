/// @file
/// Asynchronous calls of the library without callbacks: awaited by a coroutine, and as futures.

#include <coroutine>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <iostream>

#include <routemaster/async.hpp>
#include <routemaster/routemaster.hpp>
#include <routemaster/store/embedded.hpp>

namespace rm = routemaster;

namespace {

/// A minimal coroutine type, whose end is signalled by a future. Frameworks have such a type.
struct Task {
    struct promise_type {
        Task get_return_object() { return {ended.get_future()}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() { ended.set_value(); }
        void unhandled_exception() { ended.set_exception(std::current_exception()); }

        std::promise<void> ended;
    };

    std::future<void> ended;
};

/// During each `co_await`, the thread is free for other work.
Task order(rm::JobQueue kitchen) {
    const rm::Job job{"cook", {"soup"}};
    const auto pushed =
        co_await rm::async([&](auto... done) { return kitchen.push(job, {}, done...); });
    const auto id = pushed.value().id;
    const auto found = co_await rm::async([&](auto... done) { return kitchen.find(id, done...); });
    if (found.value()) std::cout << "the soup is ordered\n";
}

}  // namespace

int main() {
    rm::EmbeddedStore store{std::filesystem::current_path() / "orders.db"};
    rm::JobQueue kitchen{store, "kitchen"};
    order(kitchen).ended.get();

    auto status = rm::async_future([&](auto... done) { return kitchen.status(done...); });
    return status.get().value().ready == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
