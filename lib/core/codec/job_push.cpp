#include "core/codec/job_push.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/codec/object_fields.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {
namespace {

/// The fields of a job. `queue`, the last field, is allowed only where the job names its queue.
constexpr std::array<std::string_view, 15> queued_fields{
    "name",   "arguments", "delay", "run_at",      "priority", "attempts_max", "timeout", "expires",
    "unique", "metadata",  "group", "concurrency", "after",    "batch",        "queue"};
constexpr std::span<const std::string_view> job_fields{queued_fields.data(),
                                                       queued_fields.size() - 1};
constexpr std::array<std::string_view, 4> unique_fields{"key", "scope", "time", "on_duplicate"};

Result<void> read_span(const Value& payload, std::string_view field, Duration& span) {
    const auto given_span = span_of(payload, field);
    if (!given_span) return given_span.error();
    span = given_span->value_or(span);
    return {};
}

/// Parses a field with one of three words, which stand for the values 0, 1 and 2 of an enumeration.
template <class Choice>
Result<void> read_choice(const Value& payload, std::string_view field,
                         const std::array<std::string_view, 3>& words, Choice& choice) {
    const auto text = optional_text(payload, field);
    if (!text) return text.error();
    if (!*text) return {};
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != **text) continue;
        choice = static_cast<Choice>(i);
        return {};
    }
    return bad(field, "must be " + std::string{words[0]} + ", " + std::string{words[1]} + " or " +
                          std::string{words[2]});
}

/// Parses the object in the field `unique`. The default scope of `debounce` is `until_started`, as
/// for `Unique::debounce`.
Result<void> read_unique_fields(const Value& object, Unique& unique) {
    auto key = required_text(object, "key");
    if (!key) return key.error();
    unique = Unique::by_key(*std::move(key));
    if (auto read = read_choice(object, "on_duplicate", {"keep", "replace", "debounce"},
                                unique.on_duplicate);
        !read) {
        return read;
    }
    if (unique.on_duplicate == OnDuplicate::debounce) unique.scope = KeyScope::until_started;
    if (auto read =
            read_choice(object, "scope", {"until_done", "until_started", "for_time"}, unique.scope);
        !read) {
        return read;
    }
    return read_span(object, "time", unique.time);
}

Result<void> read_unique(const Value& payload, Unique& unique) {
    const auto* wanted = given(payload, "unique");
    if (wanted == nullptr) return {};
    if (const auto* truth = wanted->get_if<bool>()) {
        if (!*truth) unique = Unique::off();
        return {};
    }
    if (wanted->get_if<Value::Map>() == nullptr) {
        return bad("unique", "must be true, false, or an object with a key");
    }
    if (auto known = check_fields(*wanted, unique_fields); !known) {
        return headed("unique", known.error());
    }
    if (auto read = read_unique_fields(*wanted, unique); !read) {
        return Error{read.error().code(), "unique." + read.error().context()};
    }
    return {};
}

Result<void> read_metadata(const Value& payload, JobMetadata& metadata) {
    const auto* wanted = given(payload, "metadata");
    if (wanted == nullptr) return {};
    const auto* entries = wanted->get_if<Value::Map>();
    if (entries == nullptr) return bad("metadata", "must be an object of strings");
    for (const auto& [name, value] : *entries) {
        const auto* text = value.get_if<std::string>();
        if (text == nullptr) return bad("metadata", "must be an object of strings");
        metadata.insert_or_assign(name, *text);
    }
    return {};
}

Result<void> read_times(const Value& payload, PushOptions& options) {
    if (auto read = read_span(payload, "delay", options.delay); !read) return read;
    if (auto read = read_span(payload, "timeout", options.timeout); !read) return read;
    if (auto read = read_span(payload, "expires", options.expires); !read) return read;
    const auto run_at = due_time_of(payload, "run_at");
    if (!run_at) return run_at.error();
    options.run_at = *run_at;
    return {};
}

Result<void> read_attempts(const Value& payload, std::uint32_t& attempts) {
    const auto number =
        integer_of(payload, "attempts_max", 0, std::numeric_limits<std::uint32_t>::max());
    if (!number) return number.error();
    if (*number) attempts = static_cast<std::uint32_t>(**number);
    return {};
}

Result<void> read_priority(const Value& payload, std::int32_t& priority) {
    const auto number = integer_of(payload, "priority", -priority_max, priority_max);
    if (!number) return number.error();
    if (*number) priority = static_cast<std::int32_t>(**number);
    return {};
}

Result<void> read_group(const Value& payload, PushOptions& options) {
    auto group = optional_text(payload, "group");
    if (!group) return group.error();
    if (*group && (*group)->empty()) return bad("group", "must not be empty");
    if (*group) options.group = **std::move(group);
    const auto number = integer_of(payload, "concurrency", 1, group_concurrency_max);
    if (!number) return number.error();
    if (*number) options.concurrency = static_cast<std::uint32_t>(**number);
    return {};
}

Result<void> read_after(const Value& payload, std::vector<JobId>& after) {
    const auto* wanted = given(payload, "after");
    if (wanted == nullptr) return {};
    const auto* list = wanted->get_if<Value::Array>();
    constexpr const char* problem = "must be an array of ids, each at least 1";
    if (list == nullptr) return bad("after", problem);
    for (const auto& id : *list) {
        const auto* number = id.get_if<std::int64_t>();
        if (number == nullptr || *number < 1) return bad("after", problem);
        after.push_back(static_cast<JobId>(*number));
    }
    return {};
}

/// Parses an object whose fields were already checked with `check_fields`.
Result<JobPush> read_push(const Value& payload) {
    auto name = required_text(payload, "name");
    if (!name) return name.error();
    JobPush push{.job = {.name = *std::move(name)}};
    if (const auto* arguments = given(payload, "arguments")) {
        const auto* list = arguments->get_if<Value::Array>();
        if (list == nullptr) return bad("arguments", "must be an array");
        push.job.arguments = *list;
    }
    auto& options = push.options;
    if (auto read = read_times(payload, options); !read) return read.error();
    if (auto read = read_attempts(payload, options.attempts_max); !read) return read.error();
    if (auto read = read_priority(payload, options.priority); !read) return read.error();
    if (auto read = read_unique(payload, options.unique); !read) return read.error();
    if (auto read = read_metadata(payload, options.metadata); !read) return read.error();
    if (auto read = read_group(payload, options); !read) return read.error();
    if (auto read = read_after(payload, options.after); !read) return read.error();
    const auto batch = integer_of(payload, "batch", 1, std::numeric_limits<std::int64_t>::max());
    if (!batch) return batch.error();
    if (*batch) options.batch = static_cast<JobBatchId>(**batch);
    return push;
}

Result<void> check_object(const Value& payload, std::span<const std::string_view> known) {
    if (payload.get_if<Value::Map>() == nullptr) return bad("job", "must be an object");
    return check_fields(payload, known);
}

}  // namespace

Result<JobPush> job_push(const Value& payload) {
    if (auto checked = check_object(payload, job_fields); !checked) return checked.error();
    return read_push(payload);
}

Result<QueuedPush> queued_push(const Value& payload) {
    if (auto checked = check_object(payload, queued_fields); !checked) return checked.error();
    auto queue = required_text(payload, "queue");
    if (!queue) return queue.error();
    auto push = read_push(payload);
    if (!push) return push.error();
    return QueuedPush{*std::move(queue), *std::move(push)};
}

}  // namespace routemaster::detail
