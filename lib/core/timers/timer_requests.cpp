#include "routemaster/timer_requests.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "core/system/owner_process.hpp"
#include "core/timers/work/requested_timers.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/error.hpp"
#include "routemaster/timer_action.hpp"

namespace routemaster {
namespace {

using detail::RequestedTimers;
using detail::TimerWaiter;

Error out_of(std::string_view field, std::string_view least, std::string_view most) {
    return {Errc::invalid, std::string{field} + ": must be from " + std::string{least} + " to " +
                               std::string{most}};
}

Result<void> check(const TimerRequest& request) {
    if (request.limit < 1 || request.limit > timers_per_request_max) {
        return out_of("limit", "1", std::to_string(timers_per_request_max));
    }
    if (request.wait < Duration{0} || request.wait > timer_wait_max) {
        return out_of("wait", "0", std::to_string(timer_wait_max.count()) + " ms");
    }
    if (request.space == action_space) {
        return Error{Errc::invalid,
                     "namespace: is reserved for actions, which only an ActionRunner takes"};
    }
    return TakeTimers{.space = request.space,
                      .listener = "-",
                      .limit = request.limit,
                      .confirm_within = request.confirm_within}
        .check();
}

}  // namespace

class TimerRequests::Impl {
public:
    const detail::OwnerProcess process{"timer requests"};

    Impl(Store& store, TimerRequestsOptions options)
        : store_{store}, options_{std::move(options)} {}

    void take(TimerRequest request, std::function<void(Result<std::vector<FiredTimer>>)> done) {
        if (auto checked = check(request); !checked) return done(checked.error());
        events_->put(Waits{{std::move(request), std::move(done)}});
    }

    void drain() { events_->put(Drains{}); }

    TimePoint poll(TimePoint now) {
        now_ = now;
        auto events = events_->take();
        for (auto& event : events.events) {
            std::visit([this](auto& any) { on(any); }, event);
        }
        auto next = never;
        for (auto each = spaces_.begin(); each != spaces_.end();) {
            auto& space = *each->second;
            next = std::min(next, space.poll(now));
            if (!closing_ && space.idle()) {
                space.close(now);
                next = std::min(next, space.poll(now));
                ending_.push_back(std::move(each->second));
                each = spaces_.erase(each);
            } else {
                ++each;
            }
        }
        for (const auto& space : ending_) next = std::min(next, space->poll(now));
        std::erase_if(ending_, [](const auto& space) { return space->over(); });
        return events_->empty() ? next : now;
    }

    void wake_with(std::function<void()> wake) {
        wake_ = std::move(wake);
        events_->wake_with(wake_);
        for (const auto& [name, space] : spaces_) space->wake_with(wake_);
        for (const auto& space : ending_) space->wake_with(wake_);
    }

    void close(TimePoint deadline) {
        draining_ = closing_ = true;
        for (auto& [name, space] : spaces_) {
            space->close(deadline);
            ending_.push_back(std::move(space));
        }
        spaces_.clear();
    }

    [[nodiscard]] bool closed() const { return closing_ && ending_.empty(); }

private:
    struct Waits {
        TimerWaiter waiter;
    };
    struct Drains {};
    using Event = std::variant<Waits, Drains>;

    void on(Waits& waits) {
        auto& waiter = waits.waiter;
        if (draining_) return waiter.done(detail::timers_stopping());
        // Requests with a wait and requests without have separate limits, because requests without
        // a wait end with the next reply of the store.
        const bool passing = waiter.request.wait <= Duration{0};
        std::size_t waiting = 0;
        for (const auto& [name, space] : spaces_) {
            waiting += passing ? space->passing() : space->waiting();
        }
        if (waiting >= options_.waiting_max) {
            return waiter.done(Error{Errc::unavailable, "too many requests wait for timers"});
        }
        auto found = spaces_.find(waiter.request.space);
        if (found == spaces_.end()) {
            if (spaces_.size() >= options_.spaces_max) {
                return waiter.done(
                    Error{Errc::unavailable, "too many namespaces of timers are in use"});
            }
            auto space =
                std::make_unique<RequestedTimers>(store_, waiter.request.space, options_, now_);
            space->wake_with(wake_);
            found = spaces_.emplace(waiter.request.space, std::move(space)).first;
        }
        found->second->wait(std::move(waiter));
    }

    void on(Drains&) {
        draining_ = true;
        for (const auto& [name, space] : spaces_) {
            space->refuse_waiting(detail::timers_stopping());
        }
    }

    Store& store_;
    const TimerRequestsOptions options_;
    detail::OwnEventQueue<Event> events_;
    std::function<void()> wake_;
    TimePoint now_{};
    std::map<std::string, std::unique_ptr<RequestedTimers>> spaces_;
    // Closed namespaces, until the store has removed their listeners.
    std::vector<std::unique_ptr<RequestedTimers>> ending_;
    bool draining_ = false;
    bool closing_ = false;
};

TimerRequests::TimerRequests(Store& store, TimerRequestsOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

TimerRequests::~TimerRequests() { detail::leave_to_parent(impl_); }

void TimerRequests::take(TimerRequest request,
                         std::function<void(Result<std::vector<FiredTimer>>)> done) {
    if (!impl_->process.is_this()) return done(impl_->process.refusal());
    impl_->take(std::move(request), std::move(done));
}

void TimerRequests::drain() { detail::own(impl_).drain(); }

TimePoint TimerRequests::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void TimerRequests::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void TimerRequests::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool TimerRequests::closed() const { return detail::own(impl_).closed(); }

}  // namespace routemaster
