#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/codec/job_push.hpp"
#include "core/codec/push_place.hpp"
#include "http_server/percent_encoding.hpp"
#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/job_lists.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::size_t pushes_max = 1'000;
/// Maximum jobs in a page. Each job may be as large as a request.
constexpr std::uint32_t jobs_per_page_max = 100;

/// Maximum bytes of `Idempotency-Key`. For a job in an array, the index is appended to the key.
constexpr std::size_t idempotency_key_bytes_max = 250;

std::optional<JobId> job_of(const Exchange& exchange) { return number_of(exchange.segment(4)); }

void answer_unknown_job(Exchange& exchange) { exchange.answer_text(404, "job not found"); }

// --- Pushing ------------------------------------------------------------------------------------

void push_one(Exchange& exchange, const Value& payload) {
    auto push = detail::job_push(payload);
    if (!push) return exchange.refuse(push.error());
    push->options.bytes_max = exchange.options().job_bytes_max;
    push->options.idempotency_key = exchange.request().idempotency_key;
    exchange.queue().push(push->job, push->options,
                          exchange.then([](Exchange& done, const Pushed& pushed) {
                              std::string json;
                              append_pushed(json, pushed);
                              done.answer_json(200, std::move(json));
                          }));
}

Result<std::vector<JobPush>> pushes_of(const Exchange& exchange, const Value::Array& payloads) {
    if (payloads.size() > pushes_max) {
        return bad("jobs", "must have no more entries than " + std::to_string(pushes_max));
    }
    // Validated here, because an empty array would otherwise pass with an invalid queue name.
    const auto name = exchange.segment(2);
    if (auto checked = check_queue(name); !checked) return checked.error();
    if (auto checked = check_not_deliveries("queue", name); !checked) return checked.error();
    const auto queue = exchange.queue();
    const auto& key = exchange.request().idempotency_key;
    std::vector<JobPush> pushes;
    pushes.reserve(payloads.size());
    for (const auto& payload : payloads) {
        const auto place = [&] { return "jobs[" + std::to_string(pushes.size()) + "]"; };
        auto push = detail::job_push(payload);
        if (!push) return headed(place(), push.error());
        push->options.bytes_max = exchange.options().job_bytes_max;
        push->options.idempotency_key = detail::key_at(key, pushes.size());
        if (auto checked = queue.check(push->job, push->options); !checked) {
            return headed(place(), checked.error());
        }
        pushes.push_back(*std::move(push));
    }
    return pushes;
}

/// Responds with 200 if at least one job was pushed, otherwise with the first error. If this error
/// is about a job, the response contains the index of the job.
void answer_pushes(Exchange& exchange, const std::vector<Result<Pushed>>& replies) {
    const bool none =
        std::none_of(replies.begin(), replies.end(), [](const auto& reply) { return bool{reply}; });
    if (none && !replies.empty()) {
        const auto& error = replies.front().error();
        return exchange.refuse(error.code() == Errc::invalid ? headed("jobs[0]", error) : error);
    }
    std::string json{"["};
    for (const auto& reply : replies) {
        if (json.size() > 1) json.push_back(',');
        if (reply) {
            append_pushed(json, *reply);
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

void push_many(Exchange& exchange, const Value::Array& payloads) {
    const auto pushes = pushes_of(exchange, payloads);
    if (!pushes) return exchange.refuse(pushes.error());
    exchange.queue().push_each(
        *pushes, [self = exchange.shared_from_this()](const std::vector<Result<Pushed>>& replies) {
            answer_pushes(*self, replies);
        });
}

// --- Listing ------------------------------------------------------------------------------------

struct JobQuery {
    JobFilter filter{JobStatus::State::ready};
    JobId after = 0;
    std::uint32_t limit = jobs_per_page_max;

    [[nodiscard]] std::string from(JobId next) const {
        std::string text{"state="};
        text += to_string(filter.state);
        if (!filter.name.empty()) text += "&name=" + detail::percent_encoded(filter.name);
        if (!filter.group.empty()) text += "&group=" + detail::percent_encoded(filter.group);
        return text + "&after=" + std::to_string(next);
    }
};

Result<JobQuery> job_query(std::string_view query) {
    const auto page = page_query(query);
    if (!page) return page.error();
    const auto word = query_parameter(query, "state");
    if (!word) return word.error();
    const auto state = job_state(word->value_or(""));
    if (!state) return bad("state", "must be scheduled, ready, pending or buried");
    const auto after = page->after.empty() ? std::optional<JobId>{0} : number_of(page->after);
    if (!after) return bad("after", "must be the id of a job");
    auto name = query_parameter(query, "name");
    if (!name) return name.error();
    if (*name && (*name)->empty()) return bad("name", "must not be empty");
    auto group = query_parameter(query, "group");
    if (!group) return group.error();
    if (*group && (*group)->empty()) return bad("group", "must not be empty");
    return JobQuery{{*state, name->value_or(""), group->value_or("")},
                    *after,
                    std::min(page->limit, jobs_per_page_max)};
}

void answer_page(Exchange& exchange, const JobQuery& query, const JobPage& page) {
    std::string json{"["};
    auto next = page.next;
    for (const auto& job : page.jobs) {
        if (json.size() > 1) json.push_back(',');
        append_job_status(json, job);
        if (json.size() <= page_bytes_max || &job == &page.jobs.back()) continue;
        next = job.id;
        break;
    }
    HttpResponse response{200, std::move(json) + "]", "application/json", {}};
    if (next != 0) {
        response.headers.emplace_back(
            "Link", next_link(exchange.request().path, query.from(next), query.limit));
    }
    exchange.answer_with(std::move(response));
}

// --- Acting -------------------------------------------------------------------------------------

Result<std::uint32_t> kick_limit(std::string_view body) {
    if (body.empty()) return jobs_looked_at_max;
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    constexpr std::array<std::string_view, 1> known{"limit"};
    if (auto checked = check_fields(*payload, known); !checked) return checked.error();
    const auto limit = integer_of(*payload, "limit", 1, jobs_looked_at_max);
    if (!limit) return limit.error();
    return static_cast<std::uint32_t>(limit->value_or(jobs_looked_at_max));
}

}  // namespace

void push_jobs(Exchange& exchange) {
    if (exchange.request().idempotency_key.size() > idempotency_key_bytes_max) {
        return exchange.refuse(
            bad("Idempotency-Key",
                "must have at most " + std::to_string(idempotency_key_bytes_max) + " bytes"));
    }
    const auto payload = parse_json(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    if (const auto* many = payload->get_if<Value::Array>()) return push_many(exchange, *many);
    push_one(exchange, *payload);
}

void list_jobs(Exchange& exchange) {
    const auto query = job_query(exchange.request().query);
    if (!query) return exchange.refuse(query.error());
    exchange.queue().list(query->filter, query->after, query->limit,
                          exchange.then([query = *query](Exchange& done, const JobPage& page) {
                              answer_page(done, query, page);
                          }));
}

void show_job(Exchange& exchange) {
    const auto id = job_of(exchange);
    if (!id) return answer_unknown_job(exchange);
    exchange.queue().find(*id,
                          exchange.then([](Exchange& done, const std::optional<JobStatus>& found) {
                              if (!found) return answer_unknown_job(done);
                              std::string json;
                              append_job_status(json, *found);
                              done.answer_json(200, std::move(json));
                          }));
}

void explain_job(Exchange& exchange) {
    const auto id = job_of(exchange);
    if (!id) return answer_unknown_job(exchange);
    exchange.queue().explain(
        *id, exchange.then([](Exchange& done, const std::optional<JobExplanation>& found) {
            if (!found) return answer_unknown_job(done);
            std::string json;
            append_explanation(json, *found);
            done.answer_json(200, std::move(json));
        }));
}

void kick_job(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    const auto id = job_of(exchange);
    if (!id) return answer_unknown_job(exchange);
    exchange.queue().kick(*id, exchange.then([](Exchange& done, std::uint64_t kicked) {
        kicked == 0 ? done.answer_text(404, "job not found, or neither buried nor scheduled")
                    : done.answer(204);
    }));
}

void kick_jobs(Exchange& exchange) {
    const auto limit = kick_limit(exchange.request().body);
    if (!limit) return exchange.refuse(limit.error());
    exchange.queue().kick_all(*limit, exchange.then([](Exchange& done, std::uint64_t kicked) {
        done.answer_json(200, R"({"jobs":)" + std::to_string(kicked) + "}");
    }));
}

void cancel_job(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    const auto id = job_of(exchange);
    if (!id) return answer_unknown_job(exchange);
    exchange.queue().cancel(*id, exchange.then([](Exchange& done, Cancellation outcome) {
        switch (outcome) {
            case Cancellation::unknown: return answer_unknown_job(done);
            case Cancellation::cancelled:
                return done.answer_json(200, R"({"outcome":"cancelled"})");
            case Cancellation::requested: break;
        }
        done.answer_json(200, R"({"outcome":"requested"})");
    }));
}

void delete_job(Exchange& exchange) {
    const auto id = job_of(exchange);
    if (!id) return answer_unknown_job(exchange);
    exchange.queue().remove(*id, exchange.then([](Exchange& done, Deletion outcome) {
        switch (outcome) {
            case Deletion::deleted: return done.answer(204);
            case Deletion::unknown: return answer_unknown_job(done);
            case Deletion::pending: break;
        }
        done.answer_text(409, "a worker has leased the job: cancel the job instead");
    }));
}

}  // namespace routemaster::api
