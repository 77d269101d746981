#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "follow_up_payload.hpp"
#include "http_server/percent_encoding.hpp"
#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/timer_requests.hpp"
#include "routes.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

constexpr std::array<std::string_view, 3> state_words{"pending", "fired", "dead"};

constexpr std::size_t posts_max = 1'000;
constexpr std::uint32_t timers_per_page_max = 100;

void answer_unknown(Exchange& exchange) { exchange.answer_text(404, "timer not found"); }

// --- Reading ------------------------------------------------------------------------------------

Result<std::string> id_of(const Value& payload) {
    auto id = optional_text(payload, "id");
    if (!id) return id.error();
    if (!*id) return bad("id", "is missing");
    return **std::move(id);
}

/// Returns the id in a body, or nothing if the request is for all timers.
Result<std::optional<std::string>> which(const Exchange& exchange) {
    const auto& body = exchange.request().body;
    if (body.empty()) return std::optional<std::string>{};
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    constexpr std::array<std::string_view, 1> known{"id"};
    if (auto checked = check_fields(*payload, known); !checked) return checked.error();
    return optional_text(*payload, "id");
}

// --- Posting ------------------------------------------------------------------------------------

void post_one(Exchange& exchange, const Value& payload) {
    const auto post = timer_post(payload);
    if (!post) return exchange.refuse(post.error());
    auto done = exchange.then([](Exchange& posting, const PostedTimer& posted) {
        std::string json;
        append_posted(json, posted);
        posting.answer_json(200, std::move(json));
    });
    if (post->at) {
        exchange.delayer().post(post->payload, *post->at, post->options, std::move(done));
    } else {
        exchange.delayer().post(post->payload, post->delay, post->options, std::move(done));
    }
}

/// Responds with 200 if at least one timer was posted, otherwise with the first error.
void answer_posts(Exchange& exchange, const std::vector<Result<PostedTimer>>& replies) {
    const bool none =
        std::none_of(replies.begin(), replies.end(), [](const auto& reply) { return bool{reply}; });
    if (none && !replies.empty()) return exchange.refuse(replies.front().error());
    std::string json{"["};
    for (const auto& reply : replies) {
        if (json.size() > 1) json.push_back(',');
        if (reply) {
            append_posted(json, *reply);
            continue;
        }
        const bool in_doubt = reply.error().code() == Errc::timed_out;
        json.append(R"({"id":null,"outcome":")").append(in_doubt ? "in_doubt" : "failed");
        json.append(R"(","error":)");
        append_json_text(json, exchange.shown(reply.error()));
        json.push_back('}');
    }
    exchange.answer_json(200, json + "]");
}

void post_many(Exchange& exchange, const Value::Array& payloads) {
    if (payloads.size() > posts_max) {
        return exchange.refuse(
            bad("timers", "must have no more entries than " + std::to_string(posts_max)));
    }
    auto delayer = exchange.delayer();
    std::vector<TimerPost> posts;
    posts.reserve(payloads.size());
    for (const auto& payload : payloads) {
        const auto place = [&] { return "timers[" + std::to_string(posts.size()) + "]"; };
        auto post = timer_post(payload);
        if (!post) return exchange.refuse(headed(place(), post.error()));
        if (auto checked = delayer.check(*post); !checked) {
            return exchange.refuse(headed(place(), checked.error()));
        }
        posts.push_back(*std::move(post));
    }
    delayer.post_many(posts, [self = exchange.shared_from_this()](
                                 const std::vector<Result<PostedTimer>>& replies) {
        answer_posts(*self, replies);
    });
}

// --- Listing ------------------------------------------------------------------------------------

void append_timer(std::string& json, const TimerStatus& timer) {
    json.append(R"({"id":)");
    append_json_text(json, timer.id);
    json.append(R"(,"state":")").append(state_words.at(static_cast<std::size_t>(timer.state)));
    json.append(R"(","at":)").append(std::to_string(to_milliseconds(timer.at)));
    json.append(R"(,"retries":)").append(std::to_string(timer.retries));
    json.append(R"(,"retries_max":)").append(std::to_string(timer.retries_max));
    if (!timer.reason.empty()) {
        json.append(R"(,"reason":)");
        append_json_text(json, timer.reason);
    }
    json.append(R"(,"payload":)");
    append_json(json, timer.payload);
    json.push_back('}');
}

void append_counts(std::string& json, const TimerCounts& counts) {
    json.append(R"({"pending":)").append(std::to_string(counts.pending));
    json.append(R"(,"fired":)").append(std::to_string(counts.fired));
    json.append(R"(,"dead":)").append(std::to_string(counts.dead));
    json.append(R"(,"listeners":)").append(std::to_string(counts.listeners));
    json.append(R"(,"next_due":)");
    append_time(json, counts.next_due != never ? std::optional{counts.next_due} : std::nullopt);
    json.push_back('}');
}

struct TimerQuery {
    TimerState state = TimerState::pending;
    TimerPage page{};

    [[nodiscard]] std::string from(const TimerStatus& last) const {
        return "state=" + std::string{state_words.at(static_cast<std::size_t>(state))} +
               "&from=" + std::to_string(to_milliseconds(last.at)) +
               "&after=" + detail::percent_encoded(last.id);
    }
};

Result<TimerQuery> timer_query(std::string_view query) {
    const auto page = page_query(query);
    if (!page) return page.error();
    TimerQuery asked;
    const auto word = query_parameter(query, "state");
    if (!word) return word.error();
    const auto* const state =
        std::find(state_words.begin(), state_words.end(), word->value_or("pending"));
    if (state == state_words.end()) return bad("state", "must be pending, fired or dead");
    asked.state = static_cast<TimerState>(state - state_words.begin());
    const auto from = query_parameter(query, "from");
    if (!from) return from.error();
    if (*from) {
        const auto at = number_of(**from);
        if (!at || *at > static_cast<std::uint64_t>(to_milliseconds(due_at_max))) {
            return bad("from", "must be an instant in milliseconds");
        }
        asked.page.from = from_milliseconds(static_cast<std::int64_t>(*at));
    }
    asked.page.after = page->after;
    asked.page.limit = std::min(page->limit, timers_per_page_max);
    return asked;
}

void answer_page(Exchange& exchange, const TimerQuery& query,
                 const std::vector<TimerStatus>& timers) {
    std::string json{"["};
    const TimerStatus* last = nullptr;
    std::uint32_t listed = 0;
    for (const auto& timer : timers) {
        if (listed == query.page.limit || json.size() > page_bytes_max) break;
        if (json.size() > 1) json.push_back(',');
        append_timer(json, timer);
        last = &timer;
        ++listed;
    }
    // The store ends a page early at `timer_slice_bytes_max`. Such a page also exceeds
    // `page_bytes_max`, because the JSON of a timer has at least a third as many bytes as the store
    // counts. The `Link` header is therefore present.
    HttpResponse response{200, std::move(json) + "]", "application/json", {}};
    if (last != nullptr && listed < timers.size()) {
        response.headers.emplace_back(
            "Link", next_link(exchange.request().path, query.from(*last), query.page.limit));
    }
    exchange.answer_with(std::move(response));
}

// --- Acquiring ----------------------------------------------------------------------------------

Result<TimerRequest> timer_request(const Exchange& exchange) {
    constexpr std::array<std::string_view, 3> known{"limit", "wait", "confirm_within"};
    TimerRequest request{.space = std::string{exchange.segment(2)},
                         .gone = exchange.request().client_gone};
    if (exchange.request().body.empty()) return request;
    const auto payload = json_object(exchange.request().body);
    if (!payload) return payload.error();
    if (auto checked = check_fields(*payload, known); !checked) return checked.error();
    const auto limit = integer_of(*payload, "limit", 1, timers_per_request_max);
    if (!limit) return limit.error();
    if (*limit) request.limit = static_cast<std::uint32_t>(**limit);
    const auto wait = integer_of(*payload, "wait", 0, timer_wait_max.count());
    if (!wait) return wait.error();
    if (*wait) request.wait = Duration{**wait};
    const auto within = integer_of(*payload, "confirm_within", 1, timer_confirm_max.count());
    if (!within) return within.error();
    if (*within) request.confirm_within = Duration{**within};
    return request;
}

void append_fired(std::string& json, const FiredTimer& timer) {
    const auto payload = decode_value(timer.payload);
    json.append(R"({"id":)");
    append_json_text(json, timer.id);
    json.append(R"(,"payload":)");
    append_json(json, payload ? *payload : Value{});
    json.append(R"(,"due_at":)").append(std::to_string(to_milliseconds(timer.due_at)));
    json.append(R"(,"retries":)").append(std::to_string(timer.retries));
    json.append(R"(,"retries_max":)").append(std::to_string(timer.retries_max));
    json.append(R"(,"confirm_by":)");
    append_time(json, timer.confirm_by != never ? std::optional{timer.confirm_by} : std::nullopt);
    json.append(R"(,"firing":)").append(std::to_string(timer.firing));
    json.push_back('}');
}

void answer_count(Exchange& exchange, std::uint64_t timers) {
    exchange.answer_json(200, R"({"timers":)" + std::to_string(timers) + "}");
}

}  // namespace

void post_timers(Exchange& exchange) {
    if (exchange.segment(2) == action_space) {
        return exchange.refuse(bad("namespace", "is reserved for actions; post to /v1/actions"));
    }
    const auto payload = parse_json(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    if (const auto* many = payload->get_if<Value::Array>()) return post_many(exchange, *many);
    post_one(exchange, *payload);
}

void list_timers(Exchange& exchange) {
    const auto query = timer_query(exchange.request().query);
    if (!query) return exchange.refuse(query.error());
    // Requests one more timer, to detect whether there is a next page.
    auto page = query->page;
    ++page.limit;
    exchange.delayer().list(
        query->state, std::move(page),
        exchange.then([query = *query](Exchange& done, const std::vector<TimerStatus>& timers) {
            answer_page(done, query, timers);
        }));
}

void count_timers(Exchange& exchange) {
    exchange.delayer().counts(exchange.then([](Exchange& done, const TimerCounts& counts) {
        std::string json;
        append_counts(json, counts);
        done.answer_json(200, std::move(json));
    }));
}

void explain_timer(Exchange& exchange) {
    exchange.delayer().explain(
        exchange.rest_of_path(3),
        exchange.then([](Exchange& done, const std::optional<TimerExplanation>& found) {
            if (!found) return answer_unknown(done);
            std::string json{R"({"text":)"};
            append_json_text(json, to_text(*found));
            json.append(R"(,"counts":)");
            append_counts(json, found->counts);
            json.append(R"(,"timer":)");
            append_timer(json, found->timer);
            done.answer_json(200, json + "}");
        }));
}

void show_timer(Exchange& exchange) {
    exchange.delayer().peek(
        exchange.rest_of_path(3),
        exchange.then([](Exchange& done, const std::optional<TimerStatus>& found) {
            if (!found) return answer_unknown(done);
            std::string json;
            append_timer(json, *found);
            done.answer_json(200, std::move(json));
        }));
}

void cancel_timer(Exchange& exchange) {
    exchange.delayer().cancel(
        exchange.rest_of_path(3), exchange.then([](Exchange& done, Removal removal) {
            removal == Removal::removed ? done.answer(204) : answer_unknown(done);
        }));
}

void postpone_timer(Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    constexpr std::array<std::string_view, 3> known{"id", "delay", "at"};
    if (auto checked = check_fields(*payload, known); !checked) {
        return exchange.refuse(checked.error());
    }
    const auto id = id_of(*payload);
    if (!id) return exchange.refuse(id.error());
    const auto due = timer_due(*payload, true);
    if (!due) return exchange.refuse(due.error());
    auto done = exchange.then([](Exchange& postponing, bool found) {
        found ? postponing.answer(204)
              : postponing.answer_text(404, "timer not found, or not pending");
    });
    if (due->at) return exchange.delayer().postpone(*id, *due->at, std::move(done));
    exchange.delayer().postpone(*id, due->delay, std::move(done));
}

void confirm_timer(Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    constexpr std::array<std::string_view, 6> known{"id",     "retries",      "firing",
                                                    "pushes", "publications", "timers"};
    if (auto checked = check_fields(*payload, known); !checked) {
        return exchange.refuse(checked.error());
    }
    const auto id = id_of(*payload);
    if (!id) return exchange.refuse(id.error());
    const auto retries = integer_of(*payload, "retries", 0, timer_retries_max);
    if (!retries) return exchange.refuse(retries.error());
    std::optional<std::uint32_t> came_back;
    if (*retries) came_back = static_cast<std::uint32_t>(**retries);
    const auto firing = integer_of(*payload, "firing", 0, to_milliseconds(due_at_max));
    if (!firing) return exchange.refuse(firing.error());
    auto following = follow_ups(*payload, exchange.options(), exchange.now());
    if (!following) return exchange.refuse(following.error());
    auto done = [self = exchange.shared_from_this()](const Result<TimerConfirmed>& reply) {
        if (!reply) return refuse_completion(*self, reply.error());
        *reply == TimerConfirmed::confirmed
            ? self->answer(204)
            : self->answer_text(409, "no such firing awaits confirmation");
    };
    auto delayer = exchange.delayer();
    if (following->empty()) return delayer.confirm(*id, came_back, *firing, std::move(done));
    if (!came_back) return exchange.refuse(bad("retries", "is missing"));
    delayer.complete(*id, *came_back, *std::move(following), *firing, std::move(done));
}

void take_timers(Exchange& exchange) {
    auto* const timers = exchange.options().timers;
    if (timers == nullptr) return exchange.answer_text(404, {});
    auto request = timer_request(exchange);
    if (!request) return exchange.refuse(request.error());
    timers->take(*std::move(request),
                 exchange.then([](Exchange& done, const std::vector<FiredTimer>& taken) {
                     std::string json{R"({"timers":[)"};
                     for (const auto& timer : taken) {
                         if (json.back() != '[') json.push_back(',');
                         append_fired(json, timer);
                     }
                     done.answer_json(200, json + "]}");
                 }));
}

void repost_dead_timers(Exchange& exchange) {
    auto id = which(exchange);
    if (!id) return exchange.refuse(id.error());
    exchange.delayer().repost_dead(*std::move(id), Duration{0}, exchange.then(answer_count));
}

void drop_dead_timers(Exchange& exchange) {
    auto id = which(exchange);
    if (!id) return exchange.refuse(id.error());
    exchange.delayer().drop_dead(*std::move(id), exchange.then(answer_count));
}

}  // namespace routemaster::api
