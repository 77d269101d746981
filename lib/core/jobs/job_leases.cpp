#include "routemaster/job_leases.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/codec/log_text.hpp"
#include "core/jobs/work/leases/attempt_end.hpp"
#include "core/jobs/work/leases/dead_search.hpp"
#include "core/jobs/work/leases/leased_queue.hpp"
#include "core/system/owner_process.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {
namespace {

using detail::LeasedQueue;
using detail::LeaseWaiter;

using LeaseDone = std::function<void(Result<std::vector<LeasedJob>>)>;
using ExtendDone = detail::ExtensionDone;
using SettleDone = std::function<void(Result<Settlement>)>;

Error out_of(std::string_view field, std::string_view least, std::string_view most) {
    return {Errc::invalid, std::string{field} + ": must be from " + std::string{least} + " to " +
                               std::string{most}};
}

Result<void> check_lease_time(Duration lease_time) {
    if (lease_time >= lease_time_min && lease_time <= lease_time_max) return {};
    return out_of("lease_time", std::to_string(lease_time_min.count()),
                  std::to_string(lease_time_max.count()) + " ms");
}

Result<void> check(const LeaseRequest& request) {
    if (auto checked = check_own_queue(request.queue); !checked) return checked;
    if (request.limit < 1 || request.limit > leases_per_request_max) {
        return out_of("limit", "1", std::to_string(leases_per_request_max));
    }
    if (request.wait < Duration{0} || request.wait > lease_wait_max) {
        return out_of("wait", "0", std::to_string(lease_wait_max.count()) + " ms");
    }
    const auto too_long = [](const std::string& name) {
        return name.empty() || name.size() > profile_name_bytes_max;
    };
    const auto& handlers = request.handlers;
    if (handlers.size() > profile_names_max ||
        std::any_of(handlers.begin(), handlers.end(), too_long)) {
        return Error{Errc::invalid, "handlers: must be at most " +
                                        std::to_string(profile_names_max) + " names of 1 to " +
                                        std::to_string(profile_name_bytes_max) + " bytes"};
    }
    return check_lease_time(request.lease_time);
}

Result<Settlement> settlement_of(const Result<Settlement>& reply) { return reply; }
Result<Settlement> settlement_of(const Result<Completed>& reply) {
    return reply ? Result<Settlement>{reply->settlement} : Result<Settlement>{reply.error()};
}

void perform_end(Store& store, detail::EndStep step, TimePoint now, SettleDone done) {
    std::visit(
        [&](auto& one) {
            using S = std::decay_t<decltype(one)>;
            submit(store, std::move(one), now,
                   [done = std::move(done)](const Result<typename S::Reply>& reply) {
                       done(settlement_of(reply));
                   });
        },
        step);
}

/// Settles a lease that this process does not have: the lease was lost, or it belongs to another
/// process. Reads the job first, because the step contains the whole job.
void settle_elsewhere(Store& store, const LeaseName& name, AttemptEnd end, RetryPolicy retry,
                      TimePoint now, double chance, SettleDone done) {
    submit(store, FindJob{name.queue, name.job}, now,
           [&store, name, end = std::move(end), retry = std::move(retry), now, chance,
            done = std::move(done)](const Result<std::optional<JobStatus>>& found) mutable {
               if (!found) return done(found.error());
               const auto& job = *found;
               if (!job || job->worker != name.worker) return done(Settlement::lease_lost);
               Lease lease{.queue = name.queue,
                           .job = job->job,
                           .worker = name.worker,
                           .fence = name.fence,
                           .id = name.job,
                           .attempt = job->attempts};
               perform_end(store,
                           detail::step_of(std::move(end), std::move(lease), retry, now, chance),
                           now, std::move(done));
           });
}

}  // namespace

class JobLeases::Impl {
public:
    const detail::OwnerProcess process{"job leases"};

    Impl(Store& store, JobLeasesOptions options)
        : store_{store},
          options_{std::move(options)},
          random_{options_.seed ? *options_.seed : entropy()},
          search_{store, options_.heartbeat_interval, options_.worker_silence, options_.log} {
        detail::check_times(options_.heartbeat_interval, options_.worker_silence,
                            options_.poll_interval, options_.wake_grace);
    }

    // --- From any thread ------------------------------------------------------------------------

    void lease(LeaseRequest request, LeaseDone done) {
        if (auto checked = check(request); !checked) return done(checked.error());
        events_->put(Waits{{std::move(request), std::move(done)}});
    }

    void extend(LeaseName name, std::optional<Duration> lease_time, ExtendDone done) {
        if (auto checked = check_own_queue(name.queue); !checked) return done(checked.error());
        if (auto checked = check_lease_time(lease_time.value_or(lease_time_min)); !checked) {
            return done(checked.error());
        }
        events_->put(Extends{std::move(name), lease_time, std::move(done)});
    }

    void settle(LeaseName name, AttemptEnd end, SettleDone done) {
        if (auto checked = check_own_queue(name.queue); !checked) return done(checked.error());
        if (end.retry_after && *end.retry_after < Duration{0}) {
            return done(Error{Errc::invalid, "retry_after: must not be negative"});
        }
        events_->put(Settles{std::move(name), std::move(end), std::move(done)});
    }

    void drain() { events_->put(Drains{}); }

    // --- From the polling thread ----------------------------------------------------------------

    TimePoint poll(TimePoint now) {
        now_ = now;
        for (const auto& queue : ending_) queue->receive(now);
        for (const auto& [name, queue] : queues_) queue->receive(now);
        auto events = events_->take();
        for (auto& event : events.events) {
            std::visit([this](auto& any) { on(any); }, event);
        }
        leave_idle();
        // Each `LeasedQueue` searches for dead workers itself. `search_` does so only while there
        // is no `LeasedQueue`.
        auto next = search_.poll(now, options_.finds_dead && queues_.empty() && !closing_);
        for (const auto& [name, queue] : queues_) next = std::min(next, queue->send());
        for (const auto& queue : ending_) next = std::min(next, queue->send());
        std::erase_if(ending_, [](const auto& queue) { return queue->over(); });
        return events_->empty() ? next : now;
    }

    void wake_with(std::function<void()> wake) {
        wake_ = std::move(wake);
        events_->wake_with(wake_);
        search_.wake_with(wake_);
        for (const auto& [name, queue] : queues_) queue->wake_with(wake_);
        for (const auto& queue : ending_) queue->wake_with(wake_);
    }

    void close(TimePoint deadline) {
        draining_ = closing_ = true;
        for (auto& [name, queue] : queues_) {
            queue->close(deadline);
            ending_.push_back(std::move(queue));
        }
        queues_.clear();
    }

    [[nodiscard]] bool closed() const { return closing_ && ending_.empty(); }

private:
    using Queue = std::unique_ptr<LeasedQueue>;

    struct Waits {
        LeaseWaiter waiter;
    };
    struct Extends {
        LeaseName name;
        std::optional<Duration> lease_time;
        ExtendDone done;
    };
    struct Settles {
        LeaseName name;
        AttemptEnd end;
        SettleDone done;
    };
    struct Settled {
        LeaseName name;
        bool ended;
    };
    struct Drains {};
    using Event = std::variant<Waits, Extends, Settles, Settled, Drains>;

    void on(Waits& waits) {
        auto& waiter = waits.waiter;
        if (draining_) return waiter.done(detail::leases_stopping());
        if (const auto problem = full(waiter.request.wait)) return waiter.done(*problem);
        auto* const queue = queue_for(waiter.request.queue);
        if (queue == nullptr) {
            return waiter.done(Error{Errc::unavailable, "too many queues are in use"});
        }
        queue->wait(std::move(waiter));
    }

    void on(Extends& extends) {
        auto* const queue = find(extends.name.queue);
        if (queue == nullptr) return extends.done(std::optional<Extension>{});
        queue->extend(std::move(extends.name), extends.lease_time, std::move(extends.done));
    }

    /// Wraps `done`. The wrapper also logs the failure or burial of a job, after the store has
    /// settled the job.
    [[nodiscard]] SettleDone logged(const LeaseName& name, const AttemptEnd& end,
                                    SettleDone done) const {
        if (!options_.log || end.kind != AttemptEnd::Kind::failed) return done;
        constexpr std::size_t error_max = 500;
        return [log = options_.log, done = std::move(done),
                job = "queue '" + name.queue + "': job " + std::to_string(name.job),
                error = detail::log_text(end.error, error_max)](const Result<Settlement>& reply) {
            if (reply && *reply != Settlement::lease_lost) {
                log(LogLevel::info, job + " failed: " + error);
                if (*reply == Settlement::buried) log(LogLevel::warning, job + " is BURIED");
            }
            done(reply);
        };
    }

    void on(Settles& settles) {
        settles.done = logged(settles.name, settles.end, std::move(settles.done));
        auto* const queue = find(settles.name.queue);
        const auto* const lease = queue == nullptr ? nullptr : queue->begin_settling(settles.name);
        if (lease == nullptr) {
            return settle_elsewhere(store_, settles.name, std::move(settles.end), options_.retry,
                                    now_, random_.unit(), std::move(settles.done));
        }
        perform_end(
            store_,
            detail::step_of(std::move(settles.end), *lease, options_.retry, now_, random_.unit()),
            now_,
            [events = events_.shared(), name = std::move(settles.name),
             done = std::move(settles.done)](const Result<Settlement>& reply) {
                events->put(Settled{name, bool{reply}});
                done(reply);
            });
    }

    void on(Settled& settled) {
        if (auto* const queue = find(settled.name.queue)) {
            queue->settled(settled.name, settled.ended);
        }
        for (const auto& queue : ending_) queue->settled(settled.name, settled.ended);
    }

    void on(Drains&) {
        draining_ = true;
        for (const auto& [name, queue] : queues_) queue->refuse_waiting(detail::leases_stopping());
    }

    /// An error when no further request can be accepted now. Requests with a wait and requests
    /// without have separate limits, because requests without a wait end with the next reply of the
    /// store.
    [[nodiscard]] std::optional<Error> full(Duration wait) const {
        std::size_t waiting = 0;
        std::size_t leased = 0;
        std::size_t leased_bytes = 0;
        for (const auto& [name, queue] : queues_) {
            waiting += wait > Duration{0} ? queue->waiting() : queue->passing();
            leased += queue->leased();
            leased_bytes += queue->leased_bytes();
        }
        if (waiting >= options_.waiting_max) {
            return Error{Errc::unavailable, "too many requests wait for jobs"};
        }
        if (leased >= options_.leased_max || leased_bytes >= options_.leased_bytes_max) {
            return Error{Errc::unavailable, "too many jobs are leased"};
        }
        return std::nullopt;
    }

    [[nodiscard]] LeasedQueue* find(const std::string& name) const {
        const auto found = queues_.find(name);
        return found == queues_.end() ? nullptr : found->second.get();
    }

    /// The queue of this name, created if missing. Null when there are too many queues.
    LeasedQueue* queue_for(const std::string& name) {
        if (auto* const there = find(name)) return there;
        if (queues_.size() >= options_.queues_max) return nullptr;
        auto queue = std::make_unique<LeasedQueue>(store_, name, options_, random_, now_);
        queue->wake_with(wake_);
        queue->receive(now_);
        return queues_.emplace(name, std::move(queue)).first->second.get();
    }

    void leave_idle() {
        for (auto each = queues_.begin(); each != queues_.end();) {
            if (!each->second->idle(now_)) {
                ++each;
                continue;
            }
            each->second->close(now_);
            ending_.push_back(std::move(each->second));
            each = queues_.erase(each);
        }
    }

    Store& store_;
    const JobLeasesOptions options_;
    Random random_;
    detail::DeadSearch search_;
    detail::OwnEventQueue<Event> events_;
    std::function<void()> wake_;
    TimePoint now_{};
    std::map<std::string, Queue> queues_;
    std::vector<Queue> ending_;  // Closed queues, until the store has removed their workers.
    bool draining_ = false;
    bool closing_ = false;
};

JobLeases::JobLeases(Store& store, JobLeasesOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

JobLeases::~JobLeases() { detail::leave_to_parent(impl_); }

void JobLeases::lease(LeaseRequest request, LeaseDone done) {
    if (!impl_->process.is_this()) return done(impl_->process.refusal());
    impl_->lease(std::move(request), std::move(done));
}

void JobLeases::extend(LeaseName name, std::optional<Duration> lease_time, ExtendDone done) {
    if (!impl_->process.is_this()) return done(impl_->process.refusal());
    impl_->extend(std::move(name), lease_time, std::move(done));
}

void JobLeases::settle(LeaseName name, AttemptEnd end, SettleDone done) {
    if (!impl_->process.is_this()) return done(impl_->process.refusal());
    impl_->settle(std::move(name), std::move(end), std::move(done));
}

void JobLeases::drain() { detail::own(impl_).drain(); }

TimePoint JobLeases::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void JobLeases::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void JobLeases::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool JobLeases::closed() const { return detail::own(impl_).closed(); }

}  // namespace routemaster
