#include "routemaster/delayer.hpp"

#include <iterator>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {
namespace {

Result<PostedTimer> posted(std::string id, const Result<TimerPosted>& reply) {
    if (!reply) return reply.error();
    return PostedTimer{std::move(id), *reply};
}

std::vector<Result<PostedTimer>> posted(std::vector<std::string> ids, std::span<Outcome> outcomes) {
    std::vector<Result<PostedTimer>> results;
    results.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        results.push_back(posted(std::move(ids[i]), reply_of<PostTimer>(outcomes[i])));
    }
    return results;
}

std::vector<std::string> ids_of(const std::vector<PostTimer>& posts) {
    std::vector<std::string> ids;
    ids.reserve(posts.size());
    for (const auto& post : posts) ids.push_back(post.id);
    return ids;
}

std::vector<Step> as_steps(std::vector<PostTimer> posts) {
    return {std::make_move_iterator(posts.begin()), std::make_move_iterator(posts.end())};
}

Result<std::uint64_t> number(const Result<Count>& count) {
    return count ? Result<std::uint64_t>{count->value} : Result<std::uint64_t>{count.error()};
}

Result<TimerConfirmed> confirmation(const Result<CompletedTimer>& completed) {
    if (!completed) return completed.error();
    return completed->confirmation;
}

Result<bool> whether(const Result<Count>& count) {
    return count ? Result<bool>{count->value > 0} : Result<bool>{count.error()};
}

RecurringSettings recurring_settings(std::string schedule, const std::string& space,
                                     const Value& payload, RecurringTimerOptions options) {
    return {.schedule = std::move(schedule),
            .time_zone = std::move(options.time_zone),
            .catch_up = options.catch_up,
            .overlap = options.overlap,
            .timer = RecurringTimer{.space = space,
                                    .payload = encode(payload),
                                    .retries_max = options.retries_max,
                                    .confirm_within = options.confirm_within}};
}

ListTimers listing(const std::string& space, TimerState state, TimerPage page) {
    return {.space = space,
            .state = state,
            .from = page.from,
            .after = std::move(page.after),
            .until = page.until,
            .limit = page.limit};
}

ListTimers listing(const std::string& space, const UpcomingTimers& span, TimePoint now) {
    ListTimers step{.space = space, .limit = span.limit};
    if (span.offset) step.from = saturating_add(now, *span.offset);
    if (span.duration) {
        step.until =
            saturating_add(saturating_add(now, span.offset.value_or(Duration{0})), *span.duration);
    }
    return step;
}

}  // namespace

Delayer::Delayer(Store& store, std::string space, const Clock& clock)
    : store_{store}, space_{std::move(space)}, clock_{clock}, uids_{entropy(), entropy()} {}

// --- Posting ------------------------------------------------------------------------------------

PostTimer Delayer::step(const Value& payload, TimePoint at, TimerOptions options) {
    return {.space = space_,
            .id = options.id.empty() ? std::string{uids_.next().text()} : std::move(options.id),
            .payload = encode(payload),
            .due_at = at,
            .retries_max = options.retries_max,
            .confirm_within = options.confirm_within};
}

Result<void> Delayer::check(const TimerPost& post) const {
    const auto now = clock_.now();
    return PostTimer{.space = space_,
                     .id = post.options.id.empty() ? "fresh" : post.options.id,
                     .payload = encode(post.payload),
                     .due_at = post.at.value_or(due_after(post.delay, now)),
                     .retries_max = post.options.retries_max,
                     .confirm_within = post.options.confirm_within}
        .check();
}

std::vector<PostTimer> Delayer::steps(std::span<const TimerPost> posts, TimePoint now) {
    std::vector<PostTimer> all;
    all.reserve(posts.size());
    for (const auto& post : posts) {
        all.push_back(
            step(post.payload, post.at.value_or(due_after(post.delay, now)), post.options));
    }
    return all;
}

Result<PostedTimer> Delayer::post(const Value& payload, Duration delay, TimerOptions options) {
    return post(payload, due_after(delay, clock_.now()), std::move(options));
}

Result<PostedTimer> Delayer::post(const Value& payload, TimePoint at, TimerOptions options) {
    auto post = step(payload, at, std::move(options));
    auto id = post.id;
    return posted(std::move(id), perform(store_, std::move(post), clock_.now()));
}

void Delayer::post(const Value& payload, Duration delay, TimerOptions options,
                   std::function<void(Result<PostedTimer>)> done) {
    post(payload, due_after(delay, clock_.now()), std::move(options), std::move(done));
}

void Delayer::post(const Value& payload, TimePoint at, TimerOptions options,
                   std::function<void(Result<PostedTimer>)> done) {
    auto post = step(payload, at, std::move(options));
    auto id = post.id;
    submit(store_, std::move(post), clock_.now(),
           [id = std::move(id), done = std::move(done)](const Result<TimerPosted>& reply) {
               done(posted(id, reply));
           });
}

std::vector<Result<PostedTimer>> Delayer::post_many(std::span<const TimerPost> posts) {
    const auto now = clock_.now();
    auto all = steps(posts, now);
    auto ids = ids_of(all);
    auto sent = as_steps(std::move(all));
    auto outcomes = perform_all(store_, sent, now);
    return posted(std::move(ids), outcomes);
}

void Delayer::post_many(std::span<const TimerPost> posts,
                        std::function<void(std::vector<Result<PostedTimer>>)> done) {
    const auto now = clock_.now();
    auto all = steps(posts, now);
    auto ids = ids_of(all);
    auto sent = as_steps(std::move(all));
    store_.submit(sent, now,
                  [ids = std::move(ids), done = std::move(done)](std::span<Outcome> outcomes) {
                      done(posted(ids, outcomes));
                  });
}

// --- Recurring ----------------------------------------------------------------------------------

Result<void> Delayer::cron(std::string name, std::string expression, const Value& payload,
                           RecurringTimerOptions options) {
    return RecurringJobs{store_, clock_}.put(
        std::move(name),
        recurring_settings(std::move(expression), space_, payload, std::move(options)));
}

void Delayer::cron(std::string name, std::string expression, const Value& payload,
                   RecurringTimerOptions options, std::function<void(Result<void>)> done) {
    RecurringJobs{store_, clock_}.put(
        std::move(name),
        recurring_settings(std::move(expression), space_, payload, std::move(options)),
        std::move(done));
}

Result<void> Delayer::every(std::string name, Duration interval, const Value& payload,
                            RecurringTimerOptions options) {
    return cron(std::move(name), JobSchedule::every(interval), payload, std::move(options));
}

void Delayer::every(std::string name, Duration interval, const Value& payload,
                    RecurringTimerOptions options, std::function<void(Result<void>)> done) {
    cron(std::move(name), JobSchedule::every(interval), payload, std::move(options),
         std::move(done));
}

// --- Changing -----------------------------------------------------------------------------------

Result<Removal> Delayer::cancel(std::string id) {
    return perform(store_, CancelTimer{space_, std::move(id)}, clock_.now());
}

void Delayer::cancel(std::string id, std::function<void(Result<Removal>)> done) {
    submit(store_, CancelTimer{space_, std::move(id)}, clock_.now(), std::move(done));
}

Result<bool> Delayer::postpone(std::string id, Duration delay) {
    return postpone(std::move(id), due_after(delay, clock_.now()));
}

Result<bool> Delayer::postpone(std::string id, TimePoint at) {
    return whether(perform(store_, PostponeTimer{space_, std::move(id), at}, clock_.now()));
}

void Delayer::postpone(std::string id, Duration delay, std::function<void(Result<bool>)> done) {
    postpone(std::move(id), due_after(delay, clock_.now()), std::move(done));
}

void Delayer::postpone(std::string id, TimePoint at, std::function<void(Result<bool>)> done) {
    submit(store_, PostponeTimer{space_, std::move(id), at}, clock_.now(),
           [done = std::move(done)](const Result<Count>& count) { done(whether(count)); });
}

Result<TimerConfirmed> Delayer::confirm(std::string id, std::optional<std::uint32_t> retries,
                                        std::optional<std::int64_t> firing) {
    if (auto checked = check_timer_id(id); !checked) return checked.error();
    return perform(store_, ConfirmTimer{space_, std::move(id), retries, firing}, clock_.now());
}

void Delayer::confirm(std::string id, std::optional<std::uint32_t> retries,
                      std::optional<std::int64_t> firing,
                      std::function<void(Result<TimerConfirmed>)> done) {
    if (auto checked = check_timer_id(id); !checked) return done(checked.error());
    submit(store_, ConfirmTimer{space_, std::move(id), retries, firing}, clock_.now(),
           std::move(done));
}

Result<TimerConfirmed> Delayer::complete(std::string id, std::uint32_t retries,
                                         FollowUps follow_ups, std::optional<std::int64_t> firing) {
    if (auto checked = check_timer_id(id); !checked) return checked.error();
    return confirmation(perform(
        store_, std::move(follow_ups).step(space_, std::move(id), retries, firing), clock_.now()));
}

void Delayer::complete(std::string id, std::uint32_t retries, FollowUps follow_ups,
                       std::optional<std::int64_t> firing,
                       std::function<void(Result<TimerConfirmed>)> done) {
    if (auto checked = check_timer_id(id); !checked) return done(checked.error());
    submit(store_, std::move(follow_ups).step(space_, std::move(id), retries, firing), clock_.now(),
           [done = std::move(done)](const Result<CompletedTimer>& completed) {
               done(confirmation(completed));
           });
}

// --- Finding ------------------------------------------------------------------------------------

Result<std::optional<TimerStatus>> Delayer::peek(std::string id) const {
    return perform(store_, FindTimer{space_, std::move(id)}, clock_.now());
}

void Delayer::peek(std::string id,
                   std::function<void(Result<std::optional<TimerStatus>>)> done) const {
    submit(store_, FindTimer{space_, std::move(id)}, clock_.now(), std::move(done));
}

Result<std::vector<TimerStatus>> Delayer::upcoming(UpcomingTimers span) const {
    const auto now = clock_.now();
    return perform(store_, listing(space_, span, now), now);
}

void Delayer::upcoming(UpcomingTimers span,
                       std::function<void(Result<std::vector<TimerStatus>>)> done) const {
    const auto now = clock_.now();
    submit(store_, listing(space_, span, now), now, std::move(done));
}

Result<std::vector<TimerStatus>> Delayer::list(TimerState state, TimerPage page) const {
    return perform(store_, listing(space_, state, std::move(page)), clock_.now());
}

void Delayer::list(TimerState state, TimerPage page,
                   std::function<void(Result<std::vector<TimerStatus>>)> done) const {
    submit(store_, listing(space_, state, std::move(page)), clock_.now(), std::move(done));
}

Result<TimerCounts> Delayer::counts() const {
    return perform(store_, CountTimers{space_}, clock_.now());
}

void Delayer::counts(std::function<void(Result<TimerCounts>)> done) const {
    submit(store_, CountTimers{space_}, clock_.now(), std::move(done));
}

// --- DEAD timers --------------------------------------------------------------------------------

Result<std::vector<TimerStatus>> Delayer::dead(TimerPage page) const {
    return list(TimerState::dead, std::move(page));
}

void Delayer::dead(TimerPage page,
                   std::function<void(Result<std::vector<TimerStatus>>)> done) const {
    list(TimerState::dead, std::move(page), std::move(done));
}

Result<std::uint64_t> Delayer::repost_dead(std::optional<std::string> id, Duration delay) {
    const auto now = clock_.now();
    return number(
        perform(store_, RepostDeadTimers{space_, std::move(id), due_after(delay, now)}, now));
}

void Delayer::repost_dead(std::optional<std::string> id, Duration delay,
                          std::function<void(Result<std::uint64_t>)> done) {
    const auto now = clock_.now();
    submit(store_, RepostDeadTimers{space_, std::move(id), due_after(delay, now)}, now,
           [done = std::move(done)](const Result<Count>& count) { done(number(count)); });
}

Result<std::uint64_t> Delayer::drop_dead(std::optional<std::string> id) {
    return number(perform(store_, DropDeadTimers{space_, std::move(id)}, clock_.now()));
}

void Delayer::drop_dead(std::optional<std::string> id,
                        std::function<void(Result<std::uint64_t>)> done) {
    submit(store_, DropDeadTimers{space_, std::move(id)}, clock_.now(),
           [done = std::move(done)](const Result<Count>& count) { done(number(count)); });
}

// --- Listening ----------------------------------------------------------------------------------

TimerListener Delayer::listen(TimerHandler handler, TimerListenerOptions options) {
    if (options.clock == nullptr) options.clock = &clock_;
    TimerListener listener{store_, space_, std::move(handler), std::move(options)};
    listener.start();
    return listener;
}

TimerListener Delayer::listen_async(AsyncTimerHandler handler, TimerListenerOptions options) {
    if (options.clock == nullptr) options.clock = &clock_;
    TimerListener listener{store_, space_, std::move(handler), std::move(options)};
    listener.start();
    return listener;
}

// --- Explanations --------------------------------------------------------------------------------

namespace {

using ExplainedTimer = std::optional<TimerExplanation>;

}  // namespace

Result<ExplainedTimer> Delayer::explain(std::string id) const {
    const auto now = clock_.now();
    auto found = perform(store_, FindTimer{space_, std::move(id)}, now);
    if (!found) return found.error();
    if (!*found) return ExplainedTimer{};
    auto counts = perform(store_, CountTimers{space_}, now);
    if (!counts) return counts.error();
    return ExplainedTimer{TimerExplanation{**std::move(found), *counts, now}};
}

void Delayer::explain(std::string id, std::function<void(Result<ExplainedTimer>)> done) const {
    const auto now = clock_.now();
    submit(store_, FindTimer{space_, std::move(id)}, now,
           [&store = store_, space = space_, now,
            done = std::move(done)](const Result<std::optional<TimerStatus>>& found) mutable {
               if (!found) return done(found.error());
               if (!*found) return done(ExplainedTimer{});
               submit(store, CountTimers{std::move(space)}, now,
                      [timer = **found, now,
                       done = std::move(done)](const Result<TimerCounts>& counts) {
                          if (!counts) return done(counts.error());
                          done(ExplainedTimer{TimerExplanation{timer, *counts, now}});
                      });
           });
}

}  // namespace routemaster
