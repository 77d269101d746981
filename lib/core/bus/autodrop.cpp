#include "routemaster/autodrop.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/system/owner_process.hpp"
#include "core/upkeep/rounds.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {

class Autodrop::Impl {
public:
    const detail::OwnerProcess process{"autodrop"};

    Impl(Store& store, AutodropOptions options)
        : store_{store}, options_{std::move(options)}, rounds_{options_.interval} {}

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    TimePoint poll(TimePoint now) {
        now_ = now;
        rounds_.begin_turn(now);
        for (auto& event : events_->take().events) {
            std::visit([this](auto& any) { on(any); }, event);
        }
        if (rounds_.begin()) measure();
        return events_->empty() ? rounds_.next_poll() : now;
    }

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void close(TimePoint deadline) { rounds_.close(saturating_add(deadline, Duration{5'000})); }

    [[nodiscard]] bool closed() const { return rounds_.closed(); }

private:
    // Replies of the store. At most one step is in progress.
    struct Measured {
        Result<StoreUse> use;
    };
    struct Drop {
        Result<Dropped> dropped;
    };
    using Event = std::variant<Measured, Drop>;
    using OwnEventQueue = detail::OwnEventQueue<Event>;

    static constexpr std::uint32_t batches_max = 100;

    void measure() {
        submit(store_, MeasureUse{}, now_, [event_queue = events_.shared()](Result<StoreUse> use) {
            event_queue->put(Measured{std::move(use)});
        });
    }

    void on(Measured& measured) {
        if (!measured.use)
            return refused("cannot measure how much space the store takes", measured.use.error());
        refused_ = false;
        bytes_ = measured.use->bytes;
        const auto& capacity = options_.capacity;
        if (bytes_ <= capacity.high_mark()) stuck_ = false;
        if (dropping_ && bytes_ < capacity.low_mark()) {
            log(LogLevel::info, "there is enough space again: " + use());
            dropping_ = false;
        } else if (bytes_ > capacity.high_mark()) {
            dropping_ = true;
        }
        if (!dropping_ || rounds_.closing()) return rounds_.end();
        drop();
    }

    void drop() {
        submit(store_, DropOldestBatches{batches_max}, now_,
               [event_queue = events_.shared()](Result<Dropped> dropped) {
                   event_queue->put(Drop{std::move(dropped)});
               });
    }

    void on(Drop& reply) {
        const auto& dropped = reply.dropped;
        if (!dropped) return not_dropped(dropped.error());
        refused_ = false;
        if (dropped->batches == 0) return nothing_to_drop();
        stuck_ = false;
        log(LogLevel::warning, "dropped the oldest " + std::to_string(dropped->batches) +
                                   " batches, with " + std::to_string(dropped->events) +
                                   " events: " + use());
        if (rounds_.closing()) return rounds_.end();
        measure();
    }

    void not_dropped(const Error& error) {
        if (error.code() != Errc::timed_out) return refused("cannot drop batches", error);
        // Ends this round of drops. The next round measures again how full the store is.
        log(LogLevel::warning, "the oldest " + std::to_string(batches_max) +
                                   " batches may have been dropped: " + error.message());
        rounds_.end();
    }

    /// There is no batch to drop, so the space is used by something else. Stops dropping until the
    /// next measurement.
    void nothing_to_drop() {
        dropping_ = false;
        if (!std::exchange(stuck_, true)) {
            log(LogLevel::error, "there is no batch left to drop, and " + use());
        }
        rounds_.end();
    }

    /// Logs an error of the store. Of consecutive errors, only the first is logged.
    void refused(const std::string& what, const Error& error) {
        if (!std::exchange(refused_, true)) {
            log(LogLevel::warning, what + ": " + error.message());
        }
        rounds_.end();
    }

    [[nodiscard]] std::string use() const {
        return "the store takes " + std::to_string(bytes_) + " of " +
               std::to_string(options_.capacity.bytes_max) + " bytes";
    }

    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    Store& store_;
    AutodropOptions options_;
    OwnEventQueue events_;
    detail::Rounds rounds_;
    TimePoint now_{};
    std::uint64_t bytes_ = 0;  // The use of the store at the last measurement, in bytes.
    // The use of the store exceeded the high mark, and has not fallen below the low mark since.
    bool dropping_ = false;
    bool stuck_ = false;    // There was nothing to drop. The error was logged.
    bool refused_ = false;  // The store returned an error. The warning was logged.
};

Autodrop::Autodrop(Store& store, AutodropOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

Autodrop::~Autodrop() { detail::leave_to_parent(impl_); }

TimePoint Autodrop::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void Autodrop::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void Autodrop::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool Autodrop::closed() const { return detail::own(impl_).closed(); }

}  // namespace routemaster
