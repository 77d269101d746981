#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "follow_up_payload.hpp"
#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/uid.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::size_t worker_length_max = 64;

/// Maximum delay of a retry: a year, in milliseconds.
constexpr std::int64_t retry_after_max = 31'536'000'000;

/// Formats a lease as the worker's id in the store and the fence: `EjRWeJq83vD-3LqYdlQy.17`.
std::string text_of(const Lease& lease) {
    return std::string{lease.worker.text()} + '.' + std::to_string(lease.fence);
}

Result<LeaseName> lease_of(const Exchange& exchange, const Value& payload) {
    const auto* value = given(payload, "lease");
    const auto* text = value == nullptr ? nullptr : value->get_if<std::string>();
    if (text == nullptr) return bad("lease", "requires a string");
    const auto worker = Uid::parse(std::string_view{*text}.substr(0, Uid::length));
    const bool dotted = text->size() > Uid::length && (*text)[Uid::length] == '.';
    const auto fence =
        dotted ? number_of(std::string_view{*text}.substr(Uid::length + 1)) : std::nullopt;
    const auto job = number_of(exchange.segment(4));
    if (!worker || !fence || !job) return bad("lease", "is not a lease of this job");
    return LeaseName{std::string{exchange.segment(2)}, *job, *worker, *fence};
}

Result<std::optional<Duration>> span_of(const Value& payload, std::string_view field,
                                        Duration least, Duration most) {
    const auto number = integer_of(payload, field, least.count(), most.count());
    if (!number) return number.error();
    return *number ? std::optional{Duration{**number}} : std::nullopt;
}

/// A worker without a name gets a random name.
Result<std::string> worker_of(const Value& payload) {
    const auto* value = given(payload, "worker");
    if (value == nullptr) return std::string{Uid{entropy(), entropy()}.text()};
    const auto* name = value->get_if<std::string>();
    if (name == nullptr || name->empty() || name->size() > worker_length_max) {
        return bad("worker",
                   "must be a string of 1 to " + std::to_string(worker_length_max) + " bytes");
    }
    return *name;
}

/// Returns the names of jobs that the worker can run. `JobLeases` validates their number and
/// length.
Result<std::vector<std::string>> handlers_of(const Value& payload) {
    const auto* value = given(payload, "handlers");
    if (value == nullptr) return std::vector<std::string>{};
    const auto* list = value->get_if<Value::Array>();
    if (list == nullptr) return bad("handlers", "must be an array of strings");
    std::vector<std::string> handlers;
    for (const auto& each : *list) {
        const auto* name = each.get_if<std::string>();
        if (name == nullptr) return bad("handlers", "must be an array of strings");
        handlers.push_back(*name);
    }
    return handlers;
}

Result<LeaseRequest> lease_request(const Exchange& exchange) {
    constexpr std::array<std::string_view, 5> known{"worker", "limit", "wait", "lease_time",
                                                    "handlers"};
    const auto payload = json_object(exchange.request().body);
    if (!payload) return payload.error();
    if (auto checked = check_fields(*payload, known); !checked) return checked.error();
    LeaseRequest request{.queue = std::string{exchange.segment(2)}};
    auto worker = worker_of(*payload);
    if (!worker) return worker.error();
    request.worker = *std::move(worker);
    const auto limit = integer_of(*payload, "limit", 1, leases_per_request_max);
    if (!limit) return limit.error();
    if (*limit) request.limit = static_cast<std::uint32_t>(**limit);
    const auto wait = span_of(*payload, "wait", Duration{0}, lease_wait_max);
    if (!wait) return wait.error();
    request.wait = wait->value_or(request.wait);
    const auto lease_time = span_of(*payload, "lease_time", lease_time_min, lease_time_max);
    if (!lease_time) return lease_time.error();
    request.lease_time = lease_time->value_or(request.lease_time);
    auto handlers = handlers_of(*payload);
    if (!handlers) return handlers.error();
    request.handlers = *std::move(handlers);
    request.gone = exchange.request().client_gone;
    return request;
}

void append_leased(std::string& json, const LeasedJob& job) {
    json.append(R"({"id":)").append(std::to_string(job.lease.id)).push_back(',');
    append_job(json, job.job);
    json.append(R"(,"lease":)");
    append_json_text(json, text_of(job.lease));
    json.append(R"(,"until":)").append(std::to_string(to_milliseconds(job.until)));
    json.append(R"(,"attempt":)").append(std::to_string(job.lease.attempt));
    json.append(R"(,"timeout":)").append(std::to_string(job.lease.options->timeout.count()));
    json.append(R"(,"metadata":)");
    append_metadata(json, job.lease.options->metadata);
    append_batch_id(json, job.lease.options->batch);
    json.push_back('}');
}

void answer_lost(Exchange& exchange) { exchange.answer_text(409, "the lease is lost"); }

struct EndRequest {
    LeaseName lease;
    AttemptEnd end;
};

Result<EndRequest> end_request(const Exchange& exchange, AttemptEnd::Kind kind) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return payload.error();
    constexpr std::array<std::string_view, 4> known{"lease", "retry_after", "error", "bury"};
    constexpr std::array<std::string_view, 4> known_when_done{"lease", "pushes", "publications",
                                                              "timers"};
    const std::span<const std::string_view> fields =
        kind == AttemptEnd::Kind::failed     ? std::span{known}
        : kind == AttemptEnd::Kind::released ? std::span{known}.first(2)
                                             : std::span{known_when_done};
    if (auto checked = check_fields(*payload, fields); !checked) return checked.error();
    auto lease = lease_of(exchange, *payload);
    if (!lease) return lease.error();
    EndRequest request{*std::move(lease), {.kind = kind}};
    const auto after = span_of(*payload, "retry_after", Duration{0}, Duration{retry_after_max});
    if (!after) return after.error();
    request.end.retry_after = *after;
    if (const auto* value = given(*payload, "error")) {
        const auto* text = value->get_if<std::string>();
        if (text == nullptr) return bad("error", "requires a string");
        request.end.error = *text;
    }
    if (const auto* value = given(*payload, "bury")) {
        const auto* truth = value->get_if<bool>();
        if (truth == nullptr) return bad("bury", "must be true or false");
        request.end.bury = *truth;
    }
    auto following = follow_ups(*payload, exchange.options(), exchange.now());
    if (!following) return following.error();
    request.end.follow_ups = *std::move(following);
    return request;
}

/// Ends an attempt. Responds with 204, or by calling `answer`.
void end_attempt(
    Exchange& exchange, AttemptEnd::Kind kind,
    void (*answer)(Exchange&, Settlement) = [](Exchange& done, Settlement) { done.answer(204); }) {
    auto* const leases = exchange.options().leases;
    if (leases == nullptr) return exchange.answer_text(404, {});
    auto request = end_request(exchange, kind);
    if (!request) return exchange.refuse(request.error());
    leases->settle(
        std::move(request->lease), std::move(request->end),
        [self = exchange.shared_from_this(), answer](const Result<Settlement>& settlement) {
            if (!settlement) return refuse_completion(*self, settlement.error());
            *settlement == Settlement::lease_lost ? answer_lost(*self) : answer(*self, *settlement);
        });
}

}  // namespace

void lease_jobs(Exchange& exchange) {
    auto* const leases = exchange.options().leases;
    if (leases == nullptr) return exchange.answer_text(404, {});
    auto request = lease_request(exchange);
    if (!request) return exchange.refuse(request.error());
    std::string json{R"({"worker":)"};
    append_json_text(json, request->worker);
    json.append(R"(,"jobs":[)");
    leases->lease(
        *std::move(request),
        exchange.then([json = std::move(json)](Exchange& done, const std::vector<LeasedJob>& jobs) {
            auto text = json;
            for (const auto& job : jobs) {
                if (text.back() != '[') text.push_back(',');
                append_leased(text, job);
            }
            done.answer_json(200, text + "]}");
        }));
}

void extend_lease(Exchange& exchange) {
    auto* const leases = exchange.options().leases;
    if (leases == nullptr) return exchange.answer_text(404, {});
    constexpr std::array<std::string_view, 2> known{"lease", "lease_time"};
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    if (auto checked = check_fields(*payload, known); !checked) {
        return exchange.refuse(checked.error());
    }
    auto lease = lease_of(exchange, *payload);
    if (!lease) return exchange.refuse(lease.error());
    const auto lease_time = span_of(*payload, "lease_time", lease_time_min, lease_time_max);
    if (!lease_time) return exchange.refuse(lease_time.error());
    leases->extend(*std::move(lease), *lease_time,
                   exchange.then([](Exchange& done, const std::optional<Extension>& extension) {
                       if (!extension) return answer_lost(done);
                       done.answer_json(200, R"({"until":)" +
                                                 std::to_string(to_milliseconds(extension->until)) +
                                                 R"(,"cancelled":)" +
                                                 (extension->cancelled ? "true" : "false") + "}");
                   }));
}

void ack_job(Exchange& exchange) { end_attempt(exchange, AttemptEnd::Kind::done); }

void nack_job(Exchange& exchange) {
    end_attempt(exchange, AttemptEnd::Kind::failed, [](Exchange& done, Settlement settlement) {
        done.answer_json(
            200, settlement == Settlement::buried ? R"({"buried":true})" : R"({"buried":false})");
    });
}

void release_job(Exchange& exchange) { end_attempt(exchange, AttemptEnd::Kind::released); }

}  // namespace routemaster::api
