#include "job_text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {
namespace {

constexpr std::array<std::string_view, 4> state_words{"scheduled", "ready", "pending", "buried"};

std::string_view word_of(PushOutcome outcome) noexcept {
    switch (outcome) {
        case PushOutcome::pushed: return "pushed";
        case PushOutcome::duplicate: return "duplicate";
        case PushOutcome::replaced: return "replaced";
    }
    return "?";
}

void append_errors(std::string& json, const std::vector<JobError>& errors) {
    json.push_back('[');
    for (const auto& error : errors) {
        if (json.back() != '[') json.push_back(',');
        json.append(R"({"attempt":)").append(std::to_string(error.attempt));
        json.append(R"(,"at":)").append(std::to_string(to_milliseconds(error.at)));
        json.append(R"(,"text":)");
        append_json_text(json, error.text);
        json.push_back('}');
    }
    json.push_back(']');
}

void append_ids(std::string& json, const std::vector<JobId>& ids) {
    json.push_back('[');
    for (const auto id : ids) {
        if (json.back() != '[') json.push_back(',');
        json.append(std::to_string(id));
    }
    json.push_back(']');
}

}  // namespace

void append_time(std::string& json, std::optional<TimePoint> at) {
    json.append(at ? std::to_string(to_milliseconds(*at)) : "null");
}

std::string_view to_string(JobStatus::State state) noexcept {
    return state_words.at(static_cast<std::size_t>(state));
}

std::optional<JobStatus::State> job_state(std::string_view word) noexcept {
    for (std::size_t i = 0; i < state_words.size(); ++i) {
        if (state_words[i] == word) return static_cast<JobStatus::State>(i);
    }
    return std::nullopt;
}

void append_job(std::string& json, const std::optional<Job>& job) {
    if (!job) {
        json.append(R"("name":null,"arguments":null)");
        return;
    }
    json.append(R"("name":)");
    append_json_text(json, job->name);
    json.append(R"(,"arguments":)");
    append_json(json, Value{job->arguments});
}

void append_pushed(std::string& json, const Pushed& pushed) {
    json.append(R"({"id":)").append(pushed.id == 0 ? "null" : std::to_string(pushed.id));
    json.append(R"(,"outcome":")").append(word_of(pushed.outcome)).append(R"("})");
}

void append_metadata(std::string& json, const JobMetadata& metadata) {
    json.push_back('{');
    for (const auto& [name, text] : metadata) {
        if (json.back() != '{') json.push_back(',');
        append_json_text(json, name);
        json.push_back(':');
        append_json_text(json, text);
    }
    json.push_back('}');
}

void append_batch_id(std::string& json, JobBatchId batch) {
    json.append(R"(,"batch":)").append(batch == 0 ? "null" : std::to_string(batch));
}

void append_job_status(std::string& json, const JobStatus& status) {
    auto job = decode_job(status.job);
    const auto& options = status.options;
    json.append(R"({"id":)").append(std::to_string(status.id));
    json.append(R"(,"state":")").append(to_string(status.state)).append(R"(",)");
    append_job(json, job ? std::optional{*std::move(job)} : std::nullopt);
    json.append(R"(,"attempts":)").append(std::to_string(status.attempts));
    json.append(R"(,"attempts_max":)").append(std::to_string(options.attempts_max));
    json.append(R"(,"priority":)").append(std::to_string(options.priority));
    json.append(R"(,"timeout":)").append(std::to_string(options.timeout.count()));
    json.append(R"(,"run_at":)");
    const bool scheduled = status.state == JobStatus::State::scheduled;
    append_time(json, scheduled ? std::optional{status.run_at} : std::nullopt);
    json.append(R"(,"after":)");
    append_ids(json, status.after);
    json.append(R"(,"expires_at":)");
    append_time(json,
                options.expires_at != never ? std::optional{options.expires_at} : std::nullopt);
    json.append(R"(,"buried_at":)");
    append_time(json, status.buried_at);
    json.append(R"(,"key":)");
    if (options.key.text.empty()) {
        json.append("null");
    } else {
        append_json_text(json, options.key.text);
    }
    json.append(R"(,"group":)");
    if (options.group.empty()) {
        json.append("null");
    } else {
        append_json_text(json, options.group);
    }
    json.append(R"(,"concurrency":)").append(std::to_string(options.concurrency));
    append_batch_id(json, options.batch);
    json.append(R"(,"worker":)");
    if (status.worker) {
        append_json_text(json, status.worker->text());
    } else {
        json.append("null");
    }
    json.append(R"(,"cancelled":)").append(status.cancelled ? "true" : "false");
    json.append(R"(,"metadata":)");
    append_metadata(json, options.metadata);
    json.append(R"(,"errors":)");
    append_errors(json, status.errors);
    json.push_back('}');
}

void append_workers(std::string& json, const QueueWorkers& workers) {
    json.append(R"({"workers":)").append(std::to_string(workers.workers));
    json.append(R"(,"handling":)").append(std::to_string(workers.handling));
    json.append(R"(,"full":)").append(std::to_string(workers.full));
    json.append(R"(,"capacity":)").append(std::to_string(workers.capacity));
    json.append(R"(,"busy_since":)");
    append_time(json, workers.busy_since);
    json.append(R"(,"unprofiled":)").append(std::to_string(workers.unprofiled));
    json.append(R"(,"last_at":)");
    append_time(json, workers.last_at);
    json.push_back('}');
}

void append_explanation(std::string& json, const JobExplanation& explanation) {
    json.append(R"({"reason":")").append(to_string(explanation.reason())).append(R"(","text":)");
    append_json_text(json, to_text(explanation));
    json.append(R"(,"before":)");
    append_ids(json, explanation.before);
    json.append(R"(,"buried":)");
    append_ids(json, explanation.buried);
    json.append(R"(,"leased_at":)");
    append_time(json, explanation.leased_at);
    json.append(R"(,"heard_at":)");
    append_time(json, explanation.heard_at);
    json.append(R"(,"limited_until":)");
    append_time(json, std::max(explanation.queue_limited_until, explanation.group_limited_until));
    json.append(R"(,"workers":)");
    append_workers(json, explanation.workers.value_or(QueueWorkers{}));
    json.append(R"(,"job":)");
    append_job_status(json, explanation.status);
    json.push_back('}');
}

}  // namespace routemaster::api
