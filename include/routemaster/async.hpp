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

/// A façade call, written as a generic lambda that can be invoked in both forms. `call()` is never
/// executed, only its return type is used. `call(done)` starts the call, which passes its result to
/// `done`. All façades fit: `Bus`, `JobQueue`, `Delayer`, `Subscriber` and so on.
template <class Call>
concept AsyncCall = requires(Call& call, std::function<void(CallResult<Call>)> done) {
    call(std::move(done));
};

/// Executor that resumes a coroutine on a thread of the program's choice. An executor must run each
/// given function once. The functions are copyable and never block.
using Executor = detail::Executor;

/// Awaitable object returned by `async`. It may be awaited once.
///
/// A coroutine may be destroyed while it awaits the call. The call then continues, and its result
/// is discarded. Destroy a coroutine with an executor only on the thread of this executor. Destroy
/// a coroutine without an executor only while no thread of the store resumes it.
///
/// Thread safety: none.
template <AsyncCall Call>
class [[nodiscard]] Awaitable {
public:
    /// Only `async` calls this constructor.
    Awaitable(Call call, Executor executor)
        : call_{std::move(call)}, pending_{std::make_shared<Pending>(std::move(executor))} {}

    Awaitable(const Awaitable&) = delete;
    Awaitable& operator=(const Awaitable&) = delete;
    ~Awaitable() { pending_->abandon(); }

    /// Always false, because only `await_suspend` starts the call.
    [[nodiscard]] bool await_ready() const noexcept { return false; }

    /// Starts the call. Returns false if the coroutine continues at once.
    bool await_suspend(std::coroutine_handle<> waiting) {
        const auto pending = pending_;  // `resume` on another thread may destroy this object.
        call_(pending->start(waiting));
        return pending->suspend();
    }

    /// Returns the result of the call. Throws `std::future_error` with `broken_promise` when the
    /// store destroyed `done` uncalled, because memory ran out or the store was destroyed.
    CallResult<Call> await_resume() { return pending_->take(); }

private:
    using Pending = detail::AwaitedCall<CallResult<Call>>;

    Call call_;
    const std::shared_ptr<Pending> pending_;
};

/// Makes a call that a coroutine awaits. With an executor, the coroutine continues through it.
/// Without an executor, the coroutine continues at once if the call has completed, and otherwise on
/// the store's completion thread. There it must not block, and blocking calls return `invalid`, as
/// in `done`. If the call throws, `co_await` throws the exception.
template <AsyncCall Call>
Awaitable<Call> async(Call call, Executor executor = {}) {
    return {std::move(call), std::move(executor)};
}

/// Starts a call, and returns its result as a future. The future throws `broken_promise` when the
/// store destroyed `done` without calling it. The destructor of the future does not block.
template <AsyncCall Call>
[[nodiscard]] std::future<CallResult<Call>> async_future(Call call) {
    const auto promise = std::make_shared<std::promise<CallResult<Call>>>();
    auto result = promise->get_future();
    call(std::function<void(CallResult<Call>)>{
        [promise](CallResult<Call> value) { promise->set_value(std::move(value)); }});
    return result;
}

}  // namespace routemaster
