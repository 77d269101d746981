/// @file
/// `Process`: a simulated process with kills, stalls and orderly stops.

#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/active.hpp"
#include "routemaster/log.hpp"
#include "routemaster/uid.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated process, which polls an `Active` as a `Runner` would: at the requested time and after
/// wake-ups, a little late, and not while the process stalls. The destructor simulates a kill. Not
/// thread safe.
class Process {
public:
    /// `worker` is the id of the process in the store, and `queue` its queue. `context` must
    /// outlive this object.
    Process(SimulationContext& context, std::string name, std::string queue, const Uid& worker)
        : context_{context}, name_{std::move(name)}, queue_{std::move(queue)}, worker_{worker} {}
    virtual ~Process() = default;

    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] const std::string& queue() const noexcept { return queue_; }
    [[nodiscard]] const Uid& worker() const noexcept { return worker_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] bool stalled() const { return context_.moment() < stalled_until_; }
    [[nodiscard]] bool closing() const noexcept { return closing_; }
    [[nodiscard]] bool closed() const { return active_->closed(); }
    [[nodiscard]] TimePoint closing_since() const noexcept { return closing_since_; }
    /// Whether the process still runs long after its deadline although no fault delayed its stop.
    [[nodiscard]] bool overstays() const {
        constexpr Duration end_max{3'000};
        const auto kept_until = std::max(context_.disturbed_until, stalled_until_);
        return closing_ && context_.now() > close_at_ + end_max &&
               context_.moment() > kept_until + end_max;
    }
    [[nodiscard]] virtual bool busy() const { return false; }

    void stall(Duration span) {
        context_.note(name_ + " stalls for " + std::to_string(span.count()) + " ms");
        stalled_until_ = context_.moment() + span;
        wake();
    }
    void go_on() {
        stalled_until_ = context_.moment();
        wake();
    }

    void close(Duration grace) {
        context_.note(name_ + " begins to stop");
        closing_ = true;
        closing_since_ = context_.moment();
        close_at_ = context_.now() + grace;
        active_->close(close_at_);
        wake();
    }

protected:
    /// Starts to poll `active`, which must outlive the process or end with the process.
    void run(Active& active) {
        active_ = &active;
        active.wake_with([this] { wake(); });
        wake();
    }

    /// A log that writes into the trace of the world. It may be used even after the process and the
    /// world were destroyed.
    [[nodiscard]] Log log() const {
        return [&context = context_, alive = std::weak_ptr{alive_}, who = name_](
                   LogLevel level, std::string_view text) {
            if (alive.expired()) return;
            context.note(who + ": " + std::string{to_string(level)} + ": " + std::string{text});
        };
    }

private:
    void wake() { poll_after(context_.up_to(Duration{1})); }

    void poll_after(Duration span) {
        const auto when = context_.moment() + span;
        if (when >= next_) return;
        next_ = when;
        context_.after(span, [this, alive = std::weak_ptr{alive_}, when] {
            if (!alive.expired() && when == next_) poll();
        });
    }

    void poll() {
        next_ = never;
        if (stalled()) return poll_after(stalled_until_ - context_.moment());
        const auto again = active_->poll(context_.now());
        if (again != never) poll_after(std::max(again - context_.now(), Duration{0}));
    }

    SimulationContext& context_;
    std::string name_;
    std::string queue_;
    Uid worker_;
    Active* active_ = nullptr;
    TimePoint next_ = never;  // By the clock that faults do not change, as is `stalled_until_`.
    TimePoint stalled_until_{};
    TimePoint closing_since_{};
    TimePoint close_at_{};  // A time of the clock that faults set forward and back.
    bool closing_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace routemaster::simulation
