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
    std::string text;
    for (const auto part : {wake, job, callback, ordering_group, place, record}) text += part;
    return text + queue_names_part() +
           lazily("keyed_pushes", {expect, deleted, keyed, begin_anew, push_keyed}, "push_keyed");
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
    if (key.text.empty() && metadata.empty()) return;
    request.arguments()
        .add(key.text)
        .add(static_cast<int>(key.scope))
        .add(request.wire(key.until))
        .add(static_cast<int>(step.on_duplicate));
    if (!metadata.empty()) request.arguments().add(packed(metadata));
}

}  // namespace routemaster::redis
