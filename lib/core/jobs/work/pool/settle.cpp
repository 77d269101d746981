#include <string>
#include <utility>
#include <vector>

#include "core/codec/log_text.hpp"
#include "core/jobs/work/attempt_failure.hpp"
#include "core/jobs/work/pool/pool_loop.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::detail {
namespace {

void add(std::atomic<std::uint64_t>& count) { count.fetch_add(1, std::memory_order_relaxed); }

std::string shown(std::string_view name) {
    constexpr std::size_t name_max = 100;
    return "'" + log_text(name, name_max) + "'";
}

/// Describes a job in a log line. Omits the arguments of the job, because arguments may be secret
/// or long.
std::string text_of(std::string_view name, const Lease& lease) {
    auto text = "job " + shown(name);
    if (lease.id != 0) text += " (" + std::to_string(lease.id) + ")";
    return text + " of queue '" + lease.queue + "'";
}

}  // namespace

// --- Calls of the lease loops -------------------------------------------------------------------

void PoolLoop::acquired(Queue& queue, Id id, const Lease& lease) {
    if (closing_) return queue.loop.release(id);
    auto job = decode_job(lease.job);
    if (!job) {
        JobVerdict verdict{.kind = JobVerdict::Kind::bury, .error = "the job cannot be decoded"};
        return queue.loop.settle(id, failure(lease, "?", std::move(verdict), options_.retry));
    }
    const auto* handler = handlers_->find(job->name);
    if (handler == nullptr) {
        const auto [wait, news] = unhandled_.came(job->name, now_);
        if (news) {
            log(LogLevel::warning, "no handler for jobs named " + shown(job->name) + " in queue '" +
                                       lease.queue +
                                       "': jobs of this name are left to other processes");
        }
        add(counts_.unhandled);
        return queue.loop.settle(id, ReleaseJob{lease, now_ + wait});
    }
    if (lease.attempt > 1) prefetch_.came_again(now_);
    auto attempt = std::make_shared<Attempt>(queue.place, id, *std::move(job), lease, *handler,
                                             now_, clock_, options_.publications);
    const auto timeout = lease.options->timeout;
    attempt->timeout = timeout > Duration{0} ? timeout : handler->timeout;
    queue.attempts.emplace(id, attempt);
    fresh_.push_back(std::move(attempt));
}

void PoolLoop::settled(Queue& queue, Id id, Settlement settlement) {
    const auto found = queue.attempts.extract(id);
    if (found && found.mapped()->has_follow_ups) add(counts_.done);
    const auto text = [&] {
        const auto name = found ? found.mapped()->context.name() : std::string{"?"};
        return text_of(name, queue.loop.lease(id));
    };
    if (settlement == Settlement::buried) {
        add(counts_.buried);
        log(LogLevel::warning, text() + " is BURIED");
    }
    // If an earlier try was rejected, `lease_lost` may mean that this earlier try settled the job
    // after all. Without a rejection, the lease was lost, which is logged.
    if (settlement == Settlement::lease_lost && queue.loop.refusals(id) == 0) {
        add(counts_.lease_lost);
        log(LogLevel::warning, "lost the lease of " + text() + ": the job runs again");
    }
}

void PoolLoop::lost(Queue& queue, Id id) {
    const auto found = queue.attempts.extract(id);
    if (!found) return;
    auto& attempt = *found.mapped();
    forget_timeout(attempt);
    give_up(attempt);
    add(counts_.lease_lost);
    log(LogLevel::warning,
        "lost the lease of " + text_of(attempt.context.name(), queue.loop.lease(id)) +
            ", because this process sent no heartbeat for too long: the job runs again");
}

void PoolLoop::cancelled(const Queue& queue, Id id) {
    const auto found = queue.attempts.find(id);
    if (found != queue.attempts.end()) found->second->context.request_stop();
}

void PoolLoop::unfit(Queue& queue, Id id, const Error& error) {
    const auto found = queue.attempts.find(id);
    if (found != queue.attempts.end() && found->second->has_follow_ups) {
        auto& attempt = *found->second;
        attempt.has_follow_ups = false;
        JobVerdict verdict{
            .kind = JobVerdict::Kind::failed,
            .error = kept_text("the follow-ups of the job were refused: " + error.message())};
        return queue.loop.settle(id, failure(queue.loop.lease(id), attempt.context.name(),
                                             std::move(verdict), attempt.handler.retry));
    }
    log(LogLevel::error, "a job of queue '" + queue.loop.lease(id).queue +
                             "' cannot be settled: " + error.message());
    queue.attempts.erase(id);
    queue.loop.release(id, now_ + options_.retry.wait_max);
}

// --- Ended attempts -----------------------------------------------------------------------------

void PoolLoop::end(const AttemptPtr& attempt, JobVerdict& verdict) {
    auto& queue = *queues_[attempt->queue];
    forget_timeout(*attempt);
    auto follow_ups = attempt->context.take_follow_ups();
    // The attempt was abandoned meanwhile: it timed out, lost its lease, or was released at the
    // deadline. The result of its handler is ignored.
    if (!queue.attempts.contains(attempt->id) || queue.loop.settling(attempt->id)) return;
    const auto& lease = queue.loop.lease(attempt->id);
    switch (verdict.kind) {
        case JobVerdict::Kind::done:
            if (follow_ups) {
                attempt->has_follow_ups = true;
                return queue.loop.settle(attempt->id, std::move(*follow_ups).step(lease));
            }
            add(counts_.done);
            return queue.loop.settle(attempt->id, AckJob{lease});
        case JobVerdict::Kind::snoozed:
            add(counts_.released);
            add(counts_.snoozed);
            return queue.loop.settle(attempt->id,
                                     ReleaseJob{lease, due_after(verdict.delay, now_)});
        case JobVerdict::Kind::failed:
        case JobVerdict::Kind::retry:
        case JobVerdict::Kind::bury:
            return queue.loop.settle(attempt->id,
                                     failure(lease, attempt->context.name(), std::move(verdict),
                                             attempt->handler.retry));
    }
}

Step PoolLoop::failure(const Lease& lease, std::string_view name, JobVerdict verdict,
                       const RetryPolicy& policy) {
    const auto* rule = verdict.rule;
    AttemptFailure failed{.error = std::move(verdict.error)};
    if (rule != nullptr) failed.wait = rule->wait;
    if (verdict.kind == JobVerdict::Kind::retry) failed.wait = verdict.delay;
    const auto used_up = [&](std::uint32_t most) { return most > 0 && lease.attempt >= most; };
    failed.bury = verdict.kind == JobVerdict::Kind::bury ||
                  (rule != nullptr && (rule->bury || used_up(rule->attempts_max)));
    add(counts_.failed);
    constexpr std::size_t error_max = 500;
    log(LogLevel::info, text_of(name, lease) + " failed, attempt " + std::to_string(lease.attempt) +
                            ": " + log_text(failed.error, error_max));
    auto step = fail_job(lease, failed, policy, now_, random_.unit());
    if (!is_ruby_queue(lease.queue)) return step;
    // Queues of Ruby Routemaster have no BURIED jobs and store no errors. A failed job is therefore
    // nacked with a due time.
    const auto run_at = step.bury ? due_after(policy.wait_max, now_) : step.run_at;
    return NackJob{std::move(step.lease), run_at};
}

void PoolLoop::give_up(Attempt& attempt) {
    static_cast<void>(attempt.context.take_follow_ups());
    attempt.context.request_stop();
}

// --- Timeouts -----------------------------------------------------------------------------------

void PoolLoop::watch(const AttemptPtr& attempt) {
    if (!queues_[attempt->queue]->attempts.contains(attempt->id)) return;
    attempt->times_out = timeouts_.emplace(saturating_add(now_, attempt->timeout), attempt);
}

void PoolLoop::forget_timeout(Attempt& attempt) {
    if (attempt.times_out) timeouts_.erase(*std::exchange(attempt.times_out, std::nullopt));
}

void PoolLoop::shift_timeouts(Duration by) {
    const auto all = std::exchange(timeouts_, {});
    for (const auto& [at, attempt] : all) attempt->times_out = timeouts_.emplace(at + by, attempt);
}

void PoolLoop::time_out() {
    while (!timeouts_.empty() && timeouts_.begin()->first <= now_) {
        const auto attempt = timeouts_.begin()->second;
        forget_timeout(*attempt);
        JobVerdict verdict{
            .kind = JobVerdict::Kind::failed,
            .error = "timed out after " + std::to_string(attempt->timeout.count()) + " ms"};
        add(counts_.timed_out);
        end(attempt, verdict);
        give_up(*attempt);
    }
}

// --- Closing ------------------------------------------------------------------------------------

void PoolLoop::release_waiting(TimePoint since) {
    for (const auto& attempt : board_->withdraw(since)) {
        auto& queue = *queues_[attempt->queue];
        if (queue.attempts.erase(attempt->id) == 0) continue;
        if (closing_) {
            queue.loop.release(attempt->id);
        } else {
            const auto& lease = queue.loop.lease(attempt->id);
            queue.loop.settle(attempt->id, ReleaseJob{lease, now_});
        }
    }
}

void PoolLoop::release_running() {
    for (const auto& queue : queues_) {
        std::vector<AttemptPtr> running;
        for (const auto& [id, attempt] : queue->attempts) {
            if (!queue->loop.settling(id)) running.push_back(attempt);
        }
        for (const auto& attempt : running) {
            forget_timeout(*attempt);
            queue->attempts.erase(attempt->id);
            queue->loop.release(attempt->id);
            add(counts_.released);
            give_up(*attempt);
        }
    }
}

}  // namespace routemaster::detail
