/// @file
/// `Response`: the state that all copies of a `JobResponder` share.

#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "core/jobs/work/pool/attempt.hpp"
#include "core/jobs/work/pool/job_board.hpp"
#include "core/jobs/work/pool/job_verdict.hpp"

namespace routemaster::detail {

class HandlerTable;

/// One-time report of the end of an attempt. Thread safe.
class Response {
public:
    /// Shares the ownership of `handlers`, because the attempt refers to its handler.
    Response(std::shared_ptr<JobBoard> board, std::shared_ptr<const HandlerTable> handlers,
             AttemptPtr attempt)
        : board_{std::move(board)}, handlers_{std::move(handlers)}, attempt_{std::move(attempt)} {}
    Response(const Response&) = delete;
    Response& operator=(const Response&) = delete;
    ~Response() {
        if (!reported_) report(failed_verdict("the handler ended without a report"));
    }

    [[nodiscard]] Attempt& attempt() const noexcept { return *attempt_; }

    void report(JobVerdict verdict) {
        if (!reported_.exchange(true)) board_->end(attempt_, std::move(verdict));
    }

private:
    std::shared_ptr<JobBoard> board_;
    std::shared_ptr<const HandlerTable> handlers_;
    AttemptPtr attempt_;
    std::atomic<bool> reported_{false};
};

}  // namespace routemaster::detail
