/// @file
/// Calls of the façades as C++20 awaitables and as futures.
///
///     const auto pushed = co_await async([&](auto... done) {
///         return jobs.push(job, options, done...);
///     });

#pragma once

#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "routemaster/detail/awaited_call.hpp"

namespace routemaster {

/// The result of a call without `done`, for example `Result<Pushed>`.
template <class Call>
using CallResult = std::invoke_result_t<Call&>;

/// A call in both of its forms, written once as a lambda with a pack: `call()` waits for the result
/// and is never executed here, only its type is used; `call(done)` starts the call, which passes
/// the result to `done`. Every façade fits: `Bus`, `JobQueue`, `Delayer`, `Subscriber` and so on.
template <class Call>
concept AsyncCall = requires(Call& call, std::function<void(CallResult<Call>)> done) {
    call(std::move(done));
};

/// Where a coroutine is resumed: runs the function that the executor receives, once, on a thread of
/// the program's choice. The functions are copyable and never block.
using Executor = detail::Executor;

/// What `async` returns: to be awaited once.
///
/// A coroutine may be destroyed while it waits. Then the call goes on, and its result is dropped. A
/// coroutine with an executor must be destroyed on the thread of that executor, and a coroutine
/// without must not be destroyed while a thread of the store resumes it.
///
/// Thread safety: none.
template <AsyncCall Call>
class [[nodiscard]] Awaitable {
public:
    /// `async` makes it.
    Awaitable(Call call, Executor executor)
        : call_{std::move(call)}, pending_{std::make_shared<Pending>(std::move(executor))} {}

    Awaitable(const Awaitable&) = delete;
    Awaitable& operator=(const Awaitable&) = delete;
    ~Awaitable() { pending_->abandon(); }

    /// Always false: `await_suspend` learns whether the result is there at once.
    [[nodiscard]] bool await_ready() const noexcept { return false; }

    /// Starts the call.
    bool await_suspend(std::coroutine_handle<> waiting) {
        const auto pending = pending_;  // The coroutine may end before this function does.
        call_(pending->start(waiting));
        return pending->suspend();
    }

    /// The result of the call. Throws `std::future_error` with `broken_promise` when the store
    /// dropped `done` without a call, for want of memory or at its end.
    CallResult<Call> await_resume() { return pending_->take(); }

private:
    using Pending = detail::AwaitedCall<CallResult<Call>>;

    Call call_;
    const std::shared_ptr<Pending> pending_;
};

/// Makes a call that a coroutine awaits. Without an executor, the coroutine continues at once when
/// the result is there at once, and else on the thread of the store that has the result. On that
/// thread the coroutine must not block, and blocking calls return `invalid`, as in `done`. An
/// exception of the call is thrown by `co_await`.
template <AsyncCall Call>
Awaitable<Call> async(Call call, Executor executor = {}) {
    return {std::move(call), std::move(executor)};
}

/// Starts a call, and returns its result as a future. The future has `broken_promise` when the
/// store dropped `done` without a call. The destructor of the future waits for nothing.
template <AsyncCall Call>
[[nodiscard]] std::future<CallResult<Call>> async_future(Call call) {
    const auto promise = std::make_shared<std::promise<CallResult<Call>>>();
    auto result = promise->get_future();
    call(std::function<void(CallResult<Call>)>{
        [promise](CallResult<Call> value) { promise->set_value(std::move(value)); }});
    return result;
}

}  // namespace routemaster
