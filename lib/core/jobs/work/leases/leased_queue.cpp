#include "core/jobs/work/leases/leased_queue.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/codec/log_text.hpp"
#include "core/jobs/work/leases/attempt_end.hpp"
#include "core/jobs/work/own_profile.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::detail {
namespace {

/// How long a request waits for a reply of the store after the end of its own wait.
constexpr Duration store_timeout{5'000};
/// How often waiting requests are examined for disconnected clients.
constexpr Duration look_interval{1'000};
/// How many expired leases a poll ends at most.
constexpr int ended_max = 1'000;
/// How long a client counts as free after a request that got too few jobs.
constexpr Duration free_pause{10'000};
constexpr std::size_t clients_max = 1'000;

LeaseLoopOptions loop_options(std::string queue, Uid worker, const JobLeasesOptions& options) {
    return {.queue = std::move(queue),
            .worker = worker,
            .heartbeat_interval = options.heartbeat_interval,
            .worker_silence = options.worker_silence,
            .poll_interval = options.poll_interval,
            .wake_grace = options.wake_grace,
            .finds_lost = true,
            .log = options.log};
}

Uid fresh_uid(Random& random) {
    const auto high = random.next();
    return {high, random.next()};
}

}  // namespace

Error leases_stopping() { return {Errc::unavailable, "the process is stopping"}; }

LeasedQueue::LeasedQueue(Store& store, std::string queue, const JobLeasesOptions& options,
                         Random& random, TimePoint now)
    : options_{options},
      queue_{std::move(queue)},
      worker_{fresh_uid(random)},
      random_{random},
      loop_{store, loop_options(queue_, worker_, options), *this},
      now_{now},
      used_at_{now},
      since_{now} {}

// --- A poll -------------------------------------------------------------------------------------

void LeasedQueue::receive(TimePoint now) {
    const auto passed = now - now_;
    now_ = now;
    if (passed < Duration{0}) clock_set_back(passed);
    if (passed >= options_.worker_silence) stood_still(passed);
    loop_.receive(now);
    answer_served();
    if (asking_ && loop_.asked() == 0) note_reply();
    if (now_ >= look_at_) look_through();
    end_overdue();
    answer_extensions();
    if (closing_ && loop_.over(now_)) forget_left();
}

TimePoint LeasedQueue::send() {
    const bool asked_before = loop_.asked() > 0;
    if (unasked_) loop_.ask_now();
    auto next = loop_.send(wanted_);
    if (!asked_before && loop_.asked() > 0) {
        asking_ = true;
        unasked_ = false;
        for (auto& waiter : waiters_) {
            if (waiter.look == LeaseWaiter::Look::none) waiter.look = LeaseWaiter::Look::asked;
        }
    }
    next = std::min(next, look_at_);
    if (!extending_.empty()) next = std::min(next, extending_.front().until);
    // While settlements are at their limit, expired leases cannot be ended. The next reply to a
    // settlement causes a poll.
    if (ends_.empty() || (is_overdue() && !loop_.takes_settlements())) return next;
    return std::min(next, ends_.begin()->first);
}

bool LeasedQueue::idle(TimePoint now) const noexcept {
    return waiters_.empty() && leases_.empty() && extending_.empty() && loop_.leased() == 0 &&
           loop_.asked() == 0 && now - used_at_ >= options_.idle_max;
}

/// Limits stored times to the new time after the clock was set back, so that no wait is prolonged.
void LeasedQueue::clock_set_back(Duration passed) {
    used_at_ = std::min(used_at_, now_);
    look_at_ = std::min(look_at_, now_);
    for (auto& waiter : waiters_) {
        waiter.until = std::min(waiter.until, now_ + waiter.request.wait);
    }
    for (auto& each : extending_) each.until = std::min(each.until, now_ + store_timeout);
    const auto client_until = now_ + lease_wait_max + options_.idle_max;
    unnamed_until_ = std::min(unnamed_until_, client_until);
    for (auto& [name, until] : free_clients_) until = std::min(until, now_ + free_pause);
    for (auto& [name, client] : clients_) client.until = std::min(client.until, client_until);
    for (auto lease = leases_.begin(); lease != leases_.end(); ++lease) {
        auto& given = lease->second;
        if (given.times_out != never) given.times_out += passed;
        given.begun_at = std::min(given.begun_at, now_);
        if (!given.settling(ends_)) end_at(lease, std::min(given.until, now_ + given.lease_time));
    }
}

/// Extends all leases by the time for which this process was suspended, because no client could
/// extend a lease. A clock set forward has the same symptoms. The lease loop finds leases taken
/// over by other workers meanwhile.
void LeasedQueue::stood_still(Duration span) {
    for (auto lease = leases_.begin(); lease != leases_.end(); ++lease) {
        auto& given = lease->second;
        given.times_out = saturating_add(given.times_out, span);
        if (!given.settling(ends_)) end_at(lease, given.until + span);
    }
}

// --- Waiting requests ---------------------------------------------------------------------------

/// Remembers the handlers of a client. While some client lists no handlers, or there are too many
/// clients, the list of handlers in the profile counts as incomplete.
void LeasedQueue::note_client(const LeaseRequest& request) {
    const auto until = now_ + request.wait + options_.idle_max;
    const bool fits = clients_.size() < clients_max || clients_.contains(request.worker);
    if (request.handlers.empty() || !fits) {
        unnamed_until_ = std::max(unnamed_until_, until);
    } else {
        clients_.insert_or_assign(request.worker, Client{until, request.handlers});
    }
}

void LeasedQueue::forget_clients() {
    if (clients_.empty()) return;
    for (const auto& [fence, given] : leases_) {
        const auto client = clients_.find(given.worker);
        if (client != clients_.end()) {
            client->second.until = std::max(client->second.until, now_ + options_.idle_max);
        } else {
            unnamed_until_ = std::max(unnamed_until_, now_ + options_.idle_max);
        }
    }
    std::erase_if(clients_, [this](const auto& each) { return each.second.until <= now_; });
}

/// Records whether a client is free, which means that its request got too few jobs. Between two
/// requests, a free client is remembered for `free_pause`.
void LeasedQueue::note_answer(const LeaseWaiter& waiter) {
    const auto& client = waiter.request.worker;
    const bool is_free = !waiter.gone() && waiter.jobs.size() < waiter.request.limit;
    if (!is_free) {
        free_clients_.erase(client);
    } else if (free_clients_.size() < clients_max || free_clients_.contains(client)) {
        free_clients_.insert_or_assign(client, now_ + free_pause);
    }
}

void LeasedQueue::describe(Heartbeat& heartbeat) {
    forget_clients();
    std::erase_if(free_clients_, [this](const auto& each) { return each.second <= now_; });
    auto profile = own_profile(queue_, since_, options_.worker_silence);
    std::set<std::string> handlers;
    for (const auto& [name, client] : clients_) {
        handlers.insert(client.handlers.begin(), client.handlers.end());
    }
    profile.list_handlers({handlers.begin(), handlers.end()});
    const bool complete = !clients_.empty() && unnamed_until_ <= now_;
    profile.others = complete ? WorkerProfile::Others::refused : WorkerProfile::Others::unknown;
    describe_slots(profile, heartbeat);
    heartbeat.profile = std::make_shared<const WorkerProfile>(std::move(profile));
}

/// The slots of remote clients are unknown. While no client is free, all slots count as used.
void LeasedQueue::describe_slots(WorkerProfile& profile, Heartbeat& heartbeat) const {
    heartbeat.busy = static_cast<std::uint32_t>(leases_.size());
    for (const auto& [fence, given] : leases_) {
        heartbeat.busy_since = std::min(heartbeat.busy_since, given.begun_at);
    }
    if (waiters_.empty() && free_clients_.empty()) profile.capacity = heartbeat.busy;
}

void LeasedQueue::wait(LeaseWaiter waiter) {
    used_at_ = now_;
    note_client(waiter.request);
    unasked_ = true;
    waiter.until = now_ + waiter.request.wait;
    const auto until = waiter.until > now_ ? waiter.until : now_ + store_timeout;
    look_at_ = std::min({look_at_, until, now_ + look_interval});
    wanted_ += waiter.request.limit;
    if (waiter.passing()) ++passing_;
    waiters_.push_back(std::move(waiter));
}

LeasedQueue::Waiters::iterator LeasedQueue::answer(Waiters::iterator waiter,
                                                   Result<std::vector<LeasedJob>> reply) {
    note_end_of_wait(*waiter);
    note_answer(*waiter);
    const auto done = std::move(waiter->done);
    const auto next = waiters_.erase(waiter);
    done(std::move(reply));
    return next;
}

/// The first request for more jobs with a connected client, or null.
LeaseWaiter* LeasedQueue::next_in_turn() {
    while (!waiters_.empty()) {
        auto& first = waiters_.front();
        const bool served = first.jobs.size() == first.request.limit;
        if (!served && !first.gone()) return &first;
        if (served || !first.jobs.empty()) {
            serve();
        } else {
            answer(waiters_.begin(), std::vector<LeasedJob>{});
        }
    }
    return nullptr;
}

void LeasedQueue::note_end_of_wait(const LeaseWaiter& waiter) noexcept {
    wanted_ -= waiter.request.limit;
    if (waiter.passing()) --passing_;
}

void LeasedQueue::serve() {
    note_end_of_wait(waiters_.front());
    served_.splice(served_.end(), waiters_, waiters_.begin());
}

void LeasedQueue::acquired(Id id, const Lease& lease) {
    auto job = decode_job(lease.job);
    if (!job) {
        AttemptEnd end{
            .kind = AttemptEnd::Kind::failed, .error = "the job cannot be decoded", .bury = true};
        return loop_.settle(id, any_step(step_of(std::move(end), lease, options_.retry, now_, 0)));
    }
    auto* const waiter = closing_ ? nullptr : next_in_turn();
    if (waiter == nullptr) return loop_.release(id);
    const auto timeout = lease.options->timeout;
    Given given{.id = id,
                .worker = waiter->request.worker,
                .lease_time = waiter->request.lease_time,
                .begun_at = now_,
                .times_out = timeout > Duration{0} ? saturating_add(now_, timeout) : never,
                .ends = ends_.end(),
                .until = {}};
    const auto place = leases_.insert_or_assign(lease.fence, std::move(given)).first;
    end_at(place, now_ + waiter->request.lease_time);
    waiter->jobs.push_back({*std::move(job), lease, place->second.until});
}

void LeasedQueue::answer_served() {
    if (!waiters_.empty() && !waiters_.front().jobs.empty()) serve();
    for (auto& waiter : std::exchange(served_, {})) {
        note_answer(waiter);
        if (waiter.gone()) release(std::exchange(waiter.jobs, {}));
        waiter.done(std::move(waiter.jobs));
    }
}

/// Called after the reply to an acquisition. Marks the requests that the acquisition covered.
void LeasedQueue::note_reply() {
    asking_ = false;
    for (auto& waiter : waiters_) {
        if (waiter.look == LeaseWaiter::Look::asked) waiter.look = LeaseWaiter::Look::answered;
    }
    if (const auto trouble = std::exchange(trouble_, std::nullopt)) {
        for (auto each = waiters_.begin(); each != waiters_.end();) {
            const bool knows = each->look == LeaseWaiter::Look::answered;
            each = knows ? answer(each, *trouble) : std::next(each);
        }
    }
    look_at_ = std::min(look_at_, now_);
}

/// Completes requests at the end of their wait, and requests of disconnected clients.
void LeasedQueue::look_through() {
    look_at_ = never;
    for (auto each = waiters_.begin(); each != waiters_.end();) {
        const bool over = now_ >= each->until;
        if (each->gone() || (over && each->look == LeaseWaiter::Look::answered)) {
            each = answer(each, std::vector<LeasedJob>{});
        } else if (now_ >= each->until + store_timeout) {
            each = answer(each, Error{Errc::unavailable, "the store does not reply"});
        } else {
            look_at_ = std::min(look_at_, over ? each->until + store_timeout : each->until);
            ++each;
        }
    }
    if (!waiters_.empty()) look_at_ = std::min(look_at_, now_ + look_interval);
}

void LeasedQueue::refuse_waiting(const Error& error) {
    for (auto each = waiters_.begin(); each != waiters_.end();) each = answer(each, error);
    unasked_ = false;
    look_at_ = never;
}

// --- Leases -------------------------------------------------------------------------------------

LeasedQueue::Leases::iterator LeasedQueue::find(const LeaseName& name) {
    if (name.worker != worker_) return leases_.end();
    const auto found = leases_.find(name.fence);
    const bool same = found != leases_.end() && loop_.lease(found->second.id).id == name.job;
    return same ? found : leases_.end();
}

/// Sets when a lease expires, at most at the timeout of its attempt.
void LeasedQueue::end_at(Leases::iterator lease, TimePoint until) {
    auto& given = lease->second;
    if (!given.settling(ends_)) ends_.erase(given.ends);
    given.until = std::min(until, given.times_out);
    given.ends = ends_.emplace(given.until, lease->first);
}

void LeasedQueue::extend(LeaseName name, std::optional<Duration> lease_time, ExtensionDone done) {
    const auto found = find(name);
    if (found == leases_.end() || found->second.settling(ends_)) {
        return done(std::optional<Extension>{});
    }
    if (extending_.size() >= options_.waiting_max) {
        return done(Error{Errc::unavailable, "too many lease extensions wait for the store"});
    }
    auto& given = found->second;
    used_at_ = now_;
    given.lease_time = lease_time.value_or(given.lease_time);
    end_at(found, now_ + given.lease_time);
    if (loop_.knows_leases()) return done(std::optional{Extension{given.until, given.cancelled}});
    extending_.push_back({std::move(name), std::move(done), now_ + store_timeout});
}

/// Completes extensions. While this process was suspended, or the store was unreachable, another
/// worker may have taken a lease over. A client must not be told that its lease lasts before the
/// store has confirmed this.
void LeasedQueue::answer_extensions() {
    for (auto& each : std::exchange(extending_, {})) {
        const auto found = find(each.name);
        if (found == leases_.end() || found->second.settling(ends_)) {
            each.done(std::optional<Extension>{});
        } else if (loop_.knows_leases()) {
            const auto& given = found->second;
            each.done(std::optional{Extension{given.until, given.cancelled}});
        } else if (now_ >= each.until) {
            each.done(Error{Errc::unavailable, "the store did not confirm the lease in time"});
        } else {
            extending_.push_back(std::move(each));
        }
    }
}

const Lease* LeasedQueue::begin_settling(const LeaseName& name) {
    const auto found = find(name);
    if (found == leases_.end() || found->second.settling(ends_)) return nullptr;
    used_at_ = now_;
    ends_.erase(std::exchange(found->second.ends, ends_.end()));
    return &loop_.lease(found->second.id);
}

void LeasedQueue::settled(const LeaseName& name, bool ended) {
    const auto found = find(name);
    if (found == leases_.end()) return;
    if (!ended) return end_at(found, found->second.until);
    loop_.forget(found->second.id);
    leases_.erase(found);
}

/// Ends expired leases, a limited number per poll. Each end is a step that contains its job, and
/// very many leases may expire at once.
void LeasedQueue::end_overdue() {
    for (int n = 0; n < ended_max && is_overdue() && loop_.takes_settlements(); ++n) {
        const auto fence = ends_.begin()->second;
        const auto given = leases_.at(fence);
        const auto& lease = loop_.lease(given.id);
        AttemptEnd end{.kind = AttemptEnd::Kind::failed};
        if (now_ >= given.times_out) {
            end.error = "timed out after " + std::to_string(lease.options->timeout.count()) + " ms";
        } else {
            end.error = "its worker '" + given.worker + "' was silent for " +
                        std::to_string(given.lease_time.count()) + " ms";
            end.retry_after = Duration{0};
        }
        constexpr std::size_t error_max = 500;
        ended_.emplace(given.id, "job " + std::to_string(lease.id) + " failed, attempt " +
                                     std::to_string(lease.attempt) + ": " +
                                     log_text(end.error, error_max));
        auto step = step_of(std::move(end), lease, options_.retry, now_, random_.unit());
        loop_.settle(given.id, any_step(std::move(step)));
        drop(fence);
    }
}

void LeasedQueue::drop(std::uint64_t fence) {
    const auto found = leases_.find(fence);
    if (found == leases_.end()) return;
    if (!found->second.settling(ends_)) ends_.erase(found->second.ends);
    leases_.erase(found);
}

void LeasedQueue::release(const std::vector<LeasedJob>& jobs) {
    for (const auto& job : jobs) {
        const auto found = leases_.find(job.lease.fence);
        if (found == leases_.end()) continue;
        loop_.release(found->second.id);
        drop(job.lease.fence);
    }
}

void LeasedQueue::settled(Id id, Settlement settlement) {
    const auto text = ended_.extract(id);
    // The job was settled by another process meanwhile, so nothing is logged.
    if (settlement == Settlement::lease_lost) return;
    if (text) log(LogLevel::warning, text.mapped());
    if (settlement == Settlement::buried) {
        log(LogLevel::warning, "job " + std::to_string(loop_.lease(id).id) + " is BURIED");
    }
}

void LeasedQueue::lost(Id id) {
    const auto& lease = loop_.lease(id);
    const auto found = leases_.find(lease.fence);
    if (found != leases_.end() && !found->second.settling(ends_)) {
        log(LogLevel::warning,
            "lost the lease of job " + std::to_string(lease.id) +
                ", because this process sent no heartbeat for too long: the job runs again");
    }
    drop(lease.fence);
}

void LeasedQueue::cancelled(Id id) {
    const auto found = leases_.find(loop_.lease(id).fence);
    if (found != leases_.end()) found->second.cancelled = true;
}

void LeasedQueue::unfit(Id id, const Error& error) {
    log(LogLevel::error, "a job cannot be settled: " + error.message());
    ended_.erase(id);
    drop(loop_.lease(id).fence);
    loop_.release(id, now_ + options_.retry.wait_max);
}

// --- Closing ------------------------------------------------------------------------------------

void LeasedQueue::close(TimePoint deadline) {
    closing_ = true;
    refuse_waiting(leases_stopping());
    for (auto lease = leases_.begin(); lease != leases_.end();) {
        if (lease->second.settling(ends_)) {
            ++lease;
        } else {
            loop_.release(lease->second.id);
            ends_.erase(lease->second.ends);
            lease = leases_.erase(lease);
        }
    }
    answer_extensions();
    loop_.close(deadline);
}

/// Removes the leases that are still being settled after the deadline. Their jobs are released with
/// the rest, unless another process settles them.
void LeasedQueue::forget_left() {
    for (const auto& [fence, given] : leases_) loop_.forget(given.id);
    leases_.clear();
}

void LeasedQueue::log(LogLevel level, const std::string& text) const {
    if (options_.log) options_.log(level, "queue '" + queue_ + "': " + text);
}

}  // namespace routemaster::detail
