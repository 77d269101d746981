#include "scripts.hpp"

#include <openssl/evp.h>

#include <array>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>

#include "lua_sources.hpp"

namespace routemaster::redis {
namespace {

/// What the server may assume of a script. One that frees more than it takes is run even when the
/// memory is full; one that only reads is run on anything.
enum class Kind { grows, frees, reads };

std::string_view shebang(Kind kind) {
    switch (kind) {
        case Kind::grows: return "#!lua";
        case Kind::frees: return "#!lua flags=allow-oom";
        case Kind::reads: return "#!lua flags=no-writes";
    }
    return {};
}

/// What every script begins with. While the slot of a cluster is moved, its keys leave one by one,
/// and a script that meets one that has left, or was never there, ends at that command. So a key
/// that never is there is looked for first. The fleet is 1 when it is mixed, 2 for a prefix with a
/// hash tag, which may be in a cluster, 3 for both.
constexpr std::string_view head = R"lua(
local P, now, fleet = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local mixed = fleet == '1' or fleet == '3'
if fleet == '2' or fleet == '3' then
    local found = redis.pcall('EXISTS', P .. 'routemaster:never')
    if type(found) == 'table' and string.find(found.err, 'non local key', 1, true) then
        return redis.error_reply('MOVING the slot is being moved')
    end
end
)lua";

std::string sha1_of(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        hex += digits[digest[i] >> 4U];
        hex += digits[digest[i] & 15U];
    }
    return hex;
}

using Parts = std::initializer_list<std::string_view>;

/// Parts that make their functions only when they are asked for, since each function made costs
/// time in every call of a script: calling `name` gives `functions`.
std::string lazily(std::string_view name, Parts parts, std::string_view functions) {
    std::string text = "local function " + std::string{name} + "()\n";
    for (const auto part : parts) text += part;
    return text.append("return ").append(functions).append("\nend\n");
}

/// Puts a script together. The parts stand before those that call them.
Script compose(std::string_view name, Kind kind, Parts parts, std::string_view body) {
    static std::deque<std::string> texts;  // Never shrinks: scripts refer to them.
    std::string text{shebang(kind)};
    text += head;
    for (const auto part : parts) text += part;
    text += body;
    const auto& kept = texts.emplace_back(std::move(text));
    return {name, kept, sha1_of(kept)};
}

Scripts compose_all() {
    using namespace lua;
    using enum Kind;
    const auto groups =
        lazily("groups", {expect, wake, job, ordering_group, join, place, fresh_uid},
               "join, place, make_ready, fresh_uid, expect, expect_queue");
    const auto turns = lazily("turns", {turn, release}, "take_turns, take_turn, release");
    return {
        .publish_event = compose("publish_event", grows, {index, counter, groups}, publish_event),
        .remove_topic = compose("remove_topic", frees, {expect, unindex}, remove_topic),
        .list_topics = compose("list_topics", reads, {page}, list_topics),
        .subscribe =
            compose("subscribe", grows,
                    {expect, index, unindex, wake, job, ordering_group, concurrency, idle_topic},
                    subscribe),
        .unsubscribe = compose("unsubscribe", frees, {expect, unindex, idle_topic}, unsubscribe),
        .remove_subscriber = compose("remove_subscriber", frees,
                                     {expect, index, unindex, wake, counter, job, ordering_group,
                                      concurrency, idle_topic, dead},
                                     remove_subscriber),
        .list_subscribers =
            compose("list_subscribers", reads, {page, subscriber}, list_subscribers),
        .find_subscriber = compose("find_subscriber", reads, {subscriber}, find_subscriber),
        .list_batches = compose("list_batches", reads, {}, list_batches),
        .list_dead_batches = compose("list_dead_batches", reads, {}, list_dead_batches),
        .find_dead_batch = compose("find_dead_batch", reads, {}, find_dead_batch),
        .redeliver_dead_batches = compose("redeliver_dead_batches", grows,
                                          {expect, index, wake, counter, job, ordering_group, join,
                                           place, batch, dead, dead_asked},
                                          redeliver_dead_batches),
        .drop_dead_batches = compose("drop_dead_batches", frees,
                                     {expect, index, counter, dead, dead_asked}, drop_dead_batches),
        .put_token = compose("put_token", grows, {index}, put_token),
        .find_token = compose("find_token", reads, {}, find_token),
        .list_tokens = compose("list_tokens", reads, {page}, list_tokens),
        .push_job = compose("push_job", grows, {wake, job, ordering_group, place}, push_job),
        .acquire_jobs = compose("acquire_jobs", frees,
                                {expect, wake, job, ordering_group, place, turns}, acquire_jobs),
        .ack_job = compose("ack_job", frees, {expect, wake, job, lease}, ack_job),
        .nack_job =
            compose("nack_job", frees, {expect, wake, job, ordering_group, place, lease}, nack_job),
        .heartbeat = compose("heartbeat", frees, {expect}, heartbeat),
        .retire_worker =
            compose("retire_worker", frees,
                    {expect, wake, job, ordering_group, place, worker, release}, retire_worker),
        .scrub_workers =
            compose("scrub_workers", frees,
                    {expect, index, wake, counter, job, ordering_group, place, worker, release},
                    scrub_workers),
        .count_jobs = compose("count_jobs", reads, {}, count_jobs),
        .begin_delivery = compose(
            "begin_delivery", frees,
            {expect, index, wake, counter, status, job, ordering_group, place, lease, batch},
            begin_delivery),
        .settle_delivery = compose("settle_delivery", frees,
                                   {expect, index, wake, counter, status, job, ordering_group,
                                    window, place, lease, batch, dead},
                                   settle_delivery),
        .measure_use = compose("measure_use", reads, {}, measure_use),
        .drop_oldest_batches = compose(
            "drop_oldest_batches", frees,
            {expect, index, wake, counter, job, ordering_group, batch, dead}, drop_oldest_batches),
        .add_to_counters = compose("add_to_counters", grows, {index}, add_to_counters),
        .list_counters = compose("list_counters", reads, {page}, list_counters),
        // Whoever looks for what fills the memory must get a list.
        .repair_index = compose("repair_index", frees, {}, repair_index),
    };
}

}  // namespace

const Scripts& scripts() {
    static const Scripts all = compose_all();
    return all;
}

std::vector<const Script*> all_scripts() {
    const auto& all = scripts();
    return {&all.publish_event,     &all.remove_topic,    &all.list_topics,
            &all.subscribe,         &all.unsubscribe,     &all.remove_subscriber,
            &all.list_subscribers,  &all.find_subscriber, &all.list_batches,
            &all.put_token,         &all.find_token,      &all.list_tokens,
            &all.push_job,          &all.acquire_jobs,    &all.ack_job,
            &all.nack_job,          &all.heartbeat,       &all.retire_worker,
            &all.scrub_workers,     &all.count_jobs,      &all.begin_delivery,
            &all.settle_delivery,   &all.measure_use,     &all.drop_oldest_batches,
            &all.add_to_counters,   &all.list_counters,   &all.repair_index,
            &all.list_dead_batches, &all.find_dead_batch, &all.redeliver_dead_batches,
            &all.drop_dead_batches};
}

}  // namespace routemaster::redis
