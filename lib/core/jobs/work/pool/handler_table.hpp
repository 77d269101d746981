/// @file
/// `HandlerTable`: the handlers of a pool by job name, and the middleware around them.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/jobs/work/pool/attempt.hpp"
#include "core/jobs/work/pool/job_board.hpp"
#include "routemaster/job_handler.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

/// A handler: either `handle` or, for an asynchronous handler, `begin`.
struct Handler {
    JobHandler handle{};
    AsyncJobHandler begin{};
    RetryPolicy retry{};
    Duration timeout{0};
};

/// Table of the handlers of a pool. Filled first, then shared by all threads.
///
/// Thread safety: `add` and `use` must be called first, by one thread. All other members may then
/// be called from any thread.
class HandlerTable : public std::enable_shared_from_this<HandlerTable> {
public:
    /// Throws `Failure` when the name is empty or already has a handler.
    void add(std::string name, Handler handler);
    /// Adds a handler for all jobs whose names have no handler. Throws `Failure` when there is one
    /// already.
    void add_other(Handler handler);
    void use(JobMiddleware middleware) { middleware_.push_back(std::move(middleware)); }

    [[nodiscard]] const Handler* find(const std::string& name) const;

    void describe(WorkerProfile& profile) const;

    /// Runs the handler of an attempt inside its middleware, and reports the end to `board`. An
    /// asynchronous handler reports later.
    void run(const AttemptPtr& attempt, const std::shared_ptr<JobBoard>& board) const;

private:
    [[nodiscard]] JobVerdict handle(Attempt& attempt) const;
    void begin(const AttemptPtr& attempt, const std::shared_ptr<JobBoard>& board) const;

    void inside(std::size_t layer, JobContext& context,
                const std::function<void()>& innermost) const;

    std::unordered_map<std::string, Handler> handlers_;
    std::optional<Handler> other_;
    std::vector<JobMiddleware> middleware_;
};

}  // namespace routemaster::detail
