#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "action_payload.hpp"
#include "core/codec/job_push.hpp"
#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/timer_action.hpp"
#include "routes.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

constexpr std::array<std::string_view, 8> put_fields{
    "schedule", "time_zone", "queue", "job", "timer", "action", "catch_up", "overlap"};
constexpr std::array<std::string_view, 3> catch_up_words{"skip", "once", "all"};

std::string name_of(const Exchange& exchange) { return std::string{exchange.segment(2)}; }

void answer_unknown_recurring(Exchange& exchange) {
    exchange.answer_text(404, "recurring job not found");
}

// --- Putting ------------------------------------------------------------------------------------

Result<void> read_text(const Value& payload, std::string_view field, std::string& into) {
    auto text = optional_text(payload, field);
    if (!text) return text.error();
    if (*text) into = **std::move(text);
    return {};
}

Result<void> read_catch_up(const Value& payload, CatchUp& catch_up) {
    const auto word = optional_text(payload, "catch_up");
    if (!word) return word.error();
    if (!*word) return {};
    for (std::size_t i = 0; i < catch_up_words.size(); ++i) {
        if (catch_up_words[i] != **word) continue;
        catch_up = static_cast<CatchUp>(i);
        return {};
    }
    return bad("catch_up", "must be skip, once or all");
}

Error nothing_to_do(const Value& payload) {
    for (const std::string_view field : {"timer", "action"}) {
        if (payload.find(field) != nullptr) {
            return bad(field, "is null, but a recurring job needs one of job, timer and action");
        }
    }
    return bad("job", "is missing: give one of job, timer and action");
}

/// Parses the job that each tick pushes. Rejects the options that are not supported for recurring
/// jobs.
Result<void> read_job(const Value& payload, RecurringSettings& settings) {
    const auto* job = given(payload, "job");
    if (job == nullptr) return nothing_to_do(payload);
    if (job->get_if<Value::Map>() == nullptr) return bad("job", "must be an object");
    auto push = detail::job_push(*job);
    if (!push) return headed("job", push.error());
    for (const std::string_view field :
         {"delay", "run_at", "unique", "after", "group", "concurrency", "batch"}) {
        if (given(*job, field) != nullptr) {
            return bad("job", std::string{field} + ": is not allowed in a recurring job");
        }
    }
    auto& options = push->options;
    settings.job = encode_job(push->job);
    settings.attempts_max = options.attempts_max;
    settings.priority = options.priority;
    settings.timeout = options.timeout;
    settings.expires = options.expires;
    settings.metadata = std::move(options.metadata);
    return {};
}

/// `invalid` if the payload contains another kind of work in addition to `what`.
Result<void> check_alone(const Value& payload, std::string_view what) {
    for (const std::string_view field : {"queue", "job", "timer", "action"}) {
        if (field == what || given(payload, field) == nullptr) continue;
        return bad(field, "is not allowed in a recurring " + std::string{what});
    }
    return {};
}

Result<void> read_timer(const Value& payload, const Value& timer, RecurringSettings& settings) {
    if (auto checked = check_alone(payload, "timer"); !checked) return checked;
    const auto* fields = timer.get_if<Value::Map>();
    if (fields == nullptr) return bad("timer", "must be an object");
    for (const std::string_view field : {"delay", "at", "id"}) {
        if (given(timer, field) != nullptr) {
            return bad("timer", std::string{field} + ": is not allowed in a recurring timer");
        }
    }
    auto space = required_text(timer, "namespace");
    if (!space) return headed("timer", space.error());
    if (*space == action_space) {
        return bad("timer", "namespace: is reserved for actions; put an action");
    }
    auto others = *fields;
    std::erase_if(others, [](const auto& field) { return field.first == "namespace"; });
    const auto post = timer_post(Value{std::move(others)});
    if (!post) return headed("timer", post.error());
    settings.timer = RecurringTimer{.space = *std::move(space),
                                    .payload = encode(post->payload),
                                    .retries_max = post->options.retries_max,
                                    .confirm_within = post->options.confirm_within};
    return {};
}

struct RecurringPut {
    RecurringSettings settings{};
    /// If set, used instead of the job or timer in `settings`.
    std::optional<TimerAction> action{};
};

Result<void> read_what(const Value& payload, const HttpApiOptions& options, RecurringPut& put) {
    if (const auto* timer = given(payload, "timer")) {
        return read_timer(payload, *timer, put.settings);
    }
    const auto* wanted = given(payload, "action");
    if (wanted == nullptr) return read_job(payload, put.settings);
    if (auto checked = check_alone(payload, "action"); !checked) return checked;
    auto action = client_action(*wanted, options);
    if (!action) return action.error();
    put.action = *std::move(action);
    return {};
}

Result<RecurringPut> recurring_put(std::string_view body, const HttpApiOptions& options) {
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    if (auto known = check_fields(*payload, put_fields); !known) return known.error();
    RecurringPut put;
    auto& settings = put.settings;
    if (auto read = read_text(*payload, "schedule", settings.schedule); !read) return read.error();
    if (auto read = read_text(*payload, "time_zone", settings.time_zone); !read) {
        return read.error();
    }
    if (auto read = read_text(*payload, "queue", settings.queue); !read) return read.error();
    if (auto read = read_catch_up(*payload, settings.catch_up); !read) return read.error();
    const auto overlap = truth_of(*payload, "overlap", false);
    if (!overlap) return overlap.error();
    settings.overlap = *overlap;
    if (auto read = read_what(*payload, options, put); !read) return read.error();
    return put;
}

// --- Listing ------------------------------------------------------------------------------------

void append_time_field(std::string& json, std::string_view name, std::optional<TimePoint> at) {
    json.append(",\"").append(name).append("\":");
    json.append(at && *at != never ? std::to_string(to_milliseconds(*at)) : "null");
}

void append_text(std::string& json, std::string_view name, std::string_view text) {
    json.append(",\"").append(name).append("\":");
    append_json_text(json, text);
}

void append_tick_push(std::string& json, const RecurringSettings& settings) {
    append_text(json, "queue", settings.queue);
    auto job = decode_job(settings.job);
    json.append(R"(,"job":{)");
    append_job(json, job ? std::optional{*std::move(job)} : std::nullopt);
    json.append(R"(,"attempts_max":)").append(std::to_string(settings.attempts_max));
    json.append(R"(,"priority":)").append(std::to_string(settings.priority));
    json.append(R"(,"timeout":)").append(std::to_string(settings.timeout.count()));
    json.append(R"(,"expires":)").append(std::to_string(settings.expires.count()));
    json.append(R"(,"metadata":)");
    append_metadata(json, settings.metadata);
    json.append("}");
}

void append_tick_post(std::string& json, const RecurringTimer& timer) {
    const auto payload = decode_value(timer.payload);
    if (timer.space == action_space) {
        json.append(R"(,"action":)");
        return append_json(json, payload ? *payload : Value{});
    }
    json.append(R"(,"timer":{"namespace":)");
    append_json_text(json, timer.space);
    json.append(R"(,"payload":)");
    append_json(json, payload ? *payload : Value{});
    json.append(R"(,"retries_max":)").append(std::to_string(timer.retries_max));
    json.append(R"(,"confirm_within":)").append(std::to_string(timer.confirm_within.count()));
    json.append("}");
}

void append_recurring(std::string& json, const RecurringJob& one, const Caller&) {
    const auto& settings = one.settings;
    json.append(R"({"name":)");
    append_json_text(json, one.name);
    append_text(json, "schedule", settings.schedule);
    append_text(json, "time_zone", settings.time_zone);
    if (settings.timer) {
        append_tick_post(json, *settings.timer);
    } else {
        append_tick_push(json, settings);
    }
    append_text(json, "catch_up", catch_up_words.at(static_cast<std::size_t>(settings.catch_up)));
    json.append(R"(,"overlap":)").append(settings.overlap ? "true" : "false");
    json.append(R"(,"paused":)").append(one.paused ? "true" : "false");
    append_time_field(json, "next_at", one.paused ? std::nullopt : std::optional{one.next_at});
    append_time_field(json, "last_at", one.last_at);
    json.append(R"(,"runs":)").append(std::to_string(one.runs));
    json.append(R"(,"kept":)").append(std::to_string(one.kept)).append("}");
}

void answer_whether(Exchange& exchange, bool found) {
    found ? exchange.answer(204) : answer_unknown_recurring(exchange);
}

}  // namespace

void list_recurring(Exchange& exchange) {
    list_page<RecurringJob>(
        exchange, Keys::open,
        [](Exchange& asking, Page page, auto done) {
            asking.recurring().list(std::move(page), std::move(done));
        },
        [](const RecurringJob& job) -> const std::string& { return job.name; }, append_recurring);
}

void show_recurring(Exchange& exchange) {
    exchange.recurring().find(
        name_of(exchange),
        exchange.then([](Exchange& done, const std::optional<RecurringJob>& found) {
            if (!found) return answer_unknown_recurring(done);
            std::string json;
            append_recurring(json, *found, done.caller());
            done.answer_json(200, std::move(json));
        }));
}

void explain_recurring(Exchange& exchange) {
    exchange.recurring().explain(
        name_of(exchange),
        exchange.then([](Exchange& done, const std::optional<RecurringExplanation>& found) {
            if (!found) return answer_unknown_recurring(done);
            std::string json{R"({"text":)"};
            append_json_text(json, to_text(*found));
            json.append(R"(,"schedulers":)");
            append_workers(json, found->schedulers);
            json.append(R"(,"workers":)");
            if (found->workers) {
                append_workers(json, *found->workers);
            } else {
                json.append("null");
            }
            json.append(R"(,"recurring":)");
            append_recurring(json, found->recurring, done.caller());
            done.answer_json(200, json + "}");
        }));
}

void put_recurring(Exchange& exchange) {
    auto put = recurring_put(exchange.request().body, exchange.options());
    if (!put) return exchange.refuse(put.error());
    auto& settings = put->settings;
    auto done = exchange.then([](Exchange& putting) { putting.answer(204); });
    if (!put->action) {
        return exchange.recurring().put(name_of(exchange), std::move(settings), std::move(done));
    }
    exchange.actions().cron(name_of(exchange), std::move(settings.schedule), *put->action,
                            {.time_zone = std::move(settings.time_zone),
                             .catch_up = settings.catch_up,
                             .overlap = settings.overlap},
                            std::move(done));
}

void pause_recurring(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    exchange.recurring().pause(name_of(exchange), exchange.then(answer_whether));
}

void resume_recurring(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    exchange.recurring().resume(name_of(exchange), exchange.then(answer_whether));
}

void run_recurring(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    exchange.recurring().trigger(
        name_of(exchange), exchange.then([](Exchange& done, const std::optional<Pushed>& pushed) {
            if (!pushed) return answer_unknown_recurring(done);
            std::string json;
            append_pushed(json, *pushed);
            done.answer_json(200, std::move(json));
        }));
}

void remove_recurring(Exchange& exchange) {
    exchange.recurring().remove(name_of(exchange), exchange.then([](Exchange& done, Removal what) {
        answer_whether(done, what == Removal::removed);
    }));
}

}  // namespace routemaster::api
