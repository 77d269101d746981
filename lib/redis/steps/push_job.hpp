/// @file
/// How a push travels, alone or as part of another step.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/request.hpp"
#include "redis/script.hpp"
#include "redis/steps/metadata.hpp"
#include "redis/steps/queue_names.hpp"
#include "routemaster/step/jobs.hpp"

namespace routemaster::redis {

/// The parts that push_job.lua needs.
inline std::string push_parts() {
    using namespace lua;
    const auto ruby_pushes = lazily(
        "ruby_pushes", {expect, job, callback, ordering_group, place, ruby_push}, "ruby_push");
    const auto keyed_pushes = lazily(
        "keyed_pushes", {expect, deleted, keyed, record, ranks, begin_anew, unrank, push_keyed},
        "push_keyed");
    const auto records = lazily("records", {record, ranks}, "save, place_ranked");
    const auto checks = lazily("checks", {expect}, "expect_queue");
    std::string text{wake};
    return text.append(ready)
        .append(ruby_pushes)
        .append(queue_names_part())
        .append(keyed_pushes)
        .append(records)
        .append(checks);
}

/// A part of a script: `push(KEYS, ARGV)` is what push_job.lua does with these, and returns its
/// reply.
inline std::string push_part() {
    return "local function push(KEYS, ARGV)\n" + push_parts() + std::string{lua::push_job} +
           "\nend\n";
}

/// The arguments of push_job.lua from the queue on.
inline void add_push(Request& request, const PushJob& step) {
    request.arguments().add(step.queue).add(step.job).add(request.wire(step.run_at));
    if (step.options == JobOptions{}) return;
    request.arguments()
        .add(step.options.attempts_max)
        .add(step.options.timeout.count())
        .add(request.wire(step.options.expires_at));
    const auto& key = step.options.key;
    const auto& metadata = step.options.metadata;
    const auto priority = step.options.priority;
    if (key.text.empty() && metadata.empty() && priority == 0) return;
    request.arguments()
        .add(key.text)
        .add(static_cast<int>(key.scope))
        .add(request.wire(key.until))
        .add(static_cast<int>(step.on_duplicate));
    if (metadata.empty() && priority == 0) return;
    request.arguments().add(metadata.empty() ? std::string{} : packed(metadata));
    if (priority != 0) request.arguments().add(priority);
}

}  // namespace routemaster::redis
