/// @file
/// Calls of the façades with completion tokens of Asio. Optional: needs Boost 1.81 or newer, and no
/// other header includes this one.
///
///     const auto pushed = co_await async_call(
///         [&](auto... done) { return jobs.push(job, options, done...); }, asio::use_awaitable);

#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "routemaster/async.hpp"

namespace routemaster {

namespace detail {

/// State of a pending operation: its handler, and a work guard for the handler's executor. If the
/// call never completes, the handler is destroyed without having been called.
template <class Handler>
class AsioOperation {
public:
    explicit AsioOperation(Handler handler)
        : handler_{std::move(handler)},
          work_{boost::asio::make_work_guard(boost::asio::get_associated_executor(handler_))} {}

    template <class Result>
    void complete(Result result) {
        boost::asio::post(work_.get_executor(),
                          [handler = std::move(handler_), result = std::move(result)]() mutable {
                              std::move(handler)(std::move(result));
                          });
        work_.reset();
    }

private:
    Handler handler_;
    boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
};

}  // namespace detail

/// Starts a call (see `AsyncCall`), and passes its result to a completion token: a handler of a
/// `CallResult<Call>`, `use_awaitable`, `use_future`, `deferred` and so on. The handler runs on its
/// associated executor, never inside `async_call`. Cancellation slots have no effect: a started
/// call always runs to its completion.
template <AsyncCall Call, class Token>
auto async_call(Call call, Token&& token) {
    using Result = CallResult<Call>;
    return boost::asio::async_initiate<Token, void(Result)>(
        [](auto handler, Call started) {
            using Operation = detail::AsioOperation<decltype(handler)>;
            started(std::function<void(Result)>{
                [operation = std::make_shared<Operation>(std::move(handler))](Result result) {
                    operation->complete(std::move(result));
                }});
        },
        token, std::move(call));
}

}  // namespace routemaster
