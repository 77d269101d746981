#include "routemaster/monitor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "core/system/owner_process.hpp"
#include "core/upkeep/rounds.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {

class Monitor::Impl {
public:
    const detail::OwnerProcess process{"monitor"};

    Impl(Store& store, MonitorOptions options)
        : store_{store}, options_{std::move(options)}, rounds_{options_.interval} {}

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    TimePoint poll(TimePoint now) {
        now_ = now;
        rounds_.begin_turn(now);
        for (auto& event : events_->take().events) {
            std::visit([this](auto& any) { on(any); }, event);
        }
        if (rounds_.begin()) begin();
        return events_->empty() ? rounds_.next_poll() : now;
    }

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void close(TimePoint deadline) { rounds_.close(deadline); }

    [[nodiscard]] bool closed() const { return rounds_.closed(); }

private:
    using Subscribers = std::vector<SubscriberStatus>;

    // Replies of the store. At most one submission is in progress.
    struct GotSubscribers {
        Result<Subscribers> page;
    };
    struct GotSizes {
        /// The outcomes of a `CountJobs` for each queue, and of `MeasureUse`.
        std::vector<Outcome> outcomes;
    };
    struct GotCounters {
        Result<std::vector<Counter>> page;
    };
    using Event = std::variant<GotSubscribers, GotSizes, GotCounters>;
    using OwnEventQueue = detail::OwnEventQueue<Event>;

    void begin() {
        failure_.reset();
        list_subscribers({});
    }

    void list_subscribers(std::string after) {
        submit(store_, ListSubscribers{{.after = std::move(after)}}, now_,
               [event_queue = events_.shared()](Result<Subscribers> page) {
                   event_queue->put(GotSubscribers{std::move(page)});
               });
    }

    void on(GotSubscribers& got) {
        if (rounds_.closing()) return rounds_.end();
        if (!got.page) {
            failed(got.page.error());
            return ask_sizes();
        }
        for (const auto& subscriber : *got.page) add(subscriber);
        if (got.page->size() < Page{}.limit) return ask_sizes();
        list_subscribers(std::move(got.page->back().subscription.token));
    }

    void ask_sizes() {
        std::vector<Step> steps;
        for (const auto& queue : options_.queues) steps.emplace_back(CountJobs{queue});
        steps.emplace_back(MeasureUse{});
        store_.submit(steps, now_, [event_queue = events_.shared()](std::span<Outcome> outcomes) {
            event_queue->put(GotSizes{{std::make_move_iterator(outcomes.begin()),
                                       std::make_move_iterator(outcomes.end())}});
        });
    }

    void on(GotSizes& got) {
        if (rounds_.closing()) return rounds_.end();
        std::size_t next = 0;
        for (const auto& queue : options_.queues) {
            add(reply_of<CountJobs>(got.outcomes[next++]),
                [&](const QueueStatus& status) { add(queue, status); });
        }
        add(reply_of<MeasureUse>(got.outcomes[next++]), [this](StoreUse use) { add(use); });
        list_counters({});
    }

    void list_counters(std::string after) {
        submit(store_, ListCounters{{.after = std::move(after)}}, now_,
               [event_queue = events_.shared()](Result<std::vector<Counter>> page) {
                   event_queue->put(GotCounters{std::move(page)});
               });
    }

    void on(GotCounters& got) {
        if (!rounds_.closing()) {
            add(got.page, [this](const std::vector<Counter>& page) {
                for (const auto& counter : page) add(counter);
            });
            if (got.page && got.page->size() == Page{}.limit) {
                return list_counters(encode_counter_key(got.page->back().key));
            }
        }
        rounds_.end();
        if (!rounds_.closing()) report();
    }

    void report() {
        if (failure_ && !std::exchange(failed_, true)) {
            log("some measurements failed: " + failure_->message());
        }
        failed_ = failure_.has_value();
        places_.clear();
        auto measured = std::exchange(measured_, {});
        if (!measured.empty() && options_.report) options_.report(std::move(measured));
    }

    void failed(const Error& error) {
        if (!failure_) failure_ = error;
    }

    // --- Measurements ---------------------------------------------------------------------------

    template <class T, class Use>
    void add(const Result<T>& reply, Use use) {
        reply ? use(*reply) : failed(reply.error());
    }

    void add(const SubscriberStatus& status) {
        const MeasurementTags tags{{"subscriber", public_part(status.subscription.token)}};
        gauge("subscriber.queue.batches", status.batches_queued, tags);
        gauge("subscriber.queue.events", status.events_queued, tags);
        gauge("subscriber.dead.batches", status.batches_dead, tags);
    }

    void add(const std::string& queue, const QueueStatus& status) {
        gauge("jobs.count", status.ready, {{"queue", queue}, {"status", "instant"}});
        gauge("jobs.count", status.scheduled, {{"queue", queue}, {"status", "scheduled"}});
    }

    void add(StoreUse use) {
        for (const auto& name : options_.store_names) {
            gauge(name + ".bytes_used", use.bytes, {});
            if (!options_.capacity) continue;
            gauge(name + ".max_mem", options_.capacity->bytes_max, {});
            gauge(name + ".low_mark", options_.capacity->low_mark(), {});
            gauge(name + ".high_mark", options_.capacity->high_mark(), {});
        }
    }

    void add(const Counter& counter) {
        MeasurementTags tags;
        const auto& key = counter.key;
        for (const auto& [name, value] : key.tags) {
            // A tag without a value is an empty text, as in Ruby Routemaster.
            const auto whole = value.value_or("");
            const bool secret = !whole.empty() && is_token(key.name, name);
            tags.emplace_back(name, secret ? public_part(whole) : whole);
        }
        measure(Measurement::Kind::counter, counter.key.name, counter.value, tags);
    }

    /// Whether a tag contains a subscriber's token, whose secret part must not be shown. In the
    /// counters of jobs, the tag `queue` is the name of a job queue instead.
    static bool is_token(std::string_view counter, std::string_view tag) {
        return tag == "subscriber" || (tag == "queue" && !counter.starts_with("jobs."));
    }

    void gauge(std::string name, std::uint64_t value, const MeasurementTags& tags) {
        constexpr std::uint64_t greatest = std::numeric_limits<std::int64_t>::max();
        measure(Measurement::Kind::gauge, std::move(name),
                static_cast<std::int64_t>(std::min(value, greatest)), tags);
    }

    void measure(Measurement::Kind kind, std::string name, std::int64_t value,
                 const MeasurementTags& tags) {
        Measurement added{.kind = kind, .name = std::move(name), .tags = options_.tags};
        added.tags.insert(added.tags.end(), tags.begin(), tags.end());
        const auto [place, fresh] = places_.try_emplace(to_string(added), measured_.size());
        added.value = value;
        if (fresh) {
            measured_.push_back(std::move(added));
        } else {
            auto& sum = measured_[place->second].value;
            sum = saturating_sum(sum, value);
        }
    }

    static std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
        std::int64_t sum = 0;
        if (!__builtin_add_overflow(a, b, &sum)) return sum;
        return std::numeric_limits<std::int64_t>::max();
    }

    void log(const std::string& text) const {
        if (options_.log) options_.log(LogLevel::warning, text);
    }

    Store& store_;
    MonitorOptions options_;
    OwnEventQueue events_;
    detail::Rounds rounds_;
    TimePoint now_{};
    std::vector<Measurement> measured_;
    // Index in `measured_`, by name and tags.
    std::unordered_map<std::string, std::size_t> places_;
    std::optional<Error> failure_;  // The first error of the current round.
    bool failed_ = false;           // Whether the last round had an error. The error was logged.
};

Monitor::Monitor(Store& store, MonitorOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

Monitor::~Monitor() { detail::leave_to_parent(impl_); }

TimePoint Monitor::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void Monitor::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void Monitor::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool Monitor::closed() const { return detail::own(impl_).closed(); }

}  // namespace routemaster
