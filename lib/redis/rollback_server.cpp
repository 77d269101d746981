#include "rollback_server.hpp"

#include <algorithm>
#include <cstddef>
#include <future>
#include <span>
#include <utility>

#include "lua_sources.hpp"
#include "request.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/error.hpp"
#include "routemaster/time.hpp"
#include "script_reply.hpp"

namespace routemaster::redis {
namespace {

constexpr std::size_t batches_max = 100;

const Script& page_script() {
    static const Script script =
        compose("rollback_page", ScriptKind::reads, {}, lua::rollback_page);
    return script;
}
const Script& counts_script() {
    static const Script script =
        compose("rollback_counts", ScriptKind::reads, {}, lua::rollback_counts);
    return script;
}
const Script& groups_script() {
    static const Script script =
        compose("rollback_groups", ScriptKind::reads, {}, lua::rollback_groups);
    return script;
}
const Script& batches_script() {
    static const Script script =
        compose("rollback_batches", ScriptKind::reads, {}, lua::rollback_batches);
    return script;
}
const Script& set_aside_script() {
    using namespace lua;
    static const Script script = compose("set_aside_batches", ScriptKind::grows,
                                         {expect, wake, job, callback, group_concurrency,
                                          ordering_group, ready, place, lua::set_aside},
                                         set_aside_batches);
    return script;
}

}  // namespace

RollbackServer::RollbackServer(const RedisOptions& options)
    : prefix_{options.prefix}, link_{options, options.prefix + "routemaster:wake", [](auto) {}} {
    link_.wait_until_connected(options.timeout).value();
}

Arguments RollbackServer::on(std::string_view key) const {
    Arguments arguments;
    arguments.add(1)
        .add(prefix_ + std::string{key})
        .add(prefix_)
        .add(to_wire(system_clock().now(), link_.clock_offset()))
        .add(fleet_kind(prefix_, true));
    return arguments;
}

ServerReply RollbackServer::run(const Script& script, Arguments arguments) {
    std::promise<CallResult> replied;
    Call call{.script = &script, .arguments = std::move(arguments), .done = [&](CallResult result) {
                  replied.set_value(std::move(result));
              }};
    link_.send({&call, 1});
    return replied.get_future().get().value();
}

RollbackServer::Counts RollbackServer::counts() {
    const auto reply = run(counts_script(), on("routemaster:blocked:main"));
    const auto parts = items(*reply, 4);
    return {count(*parts[0]).value, count(*parts[1]).value, count(*parts[2]).value,
            count(*parts[3]).value};
}

std::uint64_t RollbackServer::groups(const std::vector<std::string>& tokens) {
    auto arguments = on("subscribers");
    for (const auto& token : tokens) arguments.add(token);
    return count(*run(groups_script(), std::move(arguments))).value;
}

void RollbackServer::each_entry(const std::string& key,
                                const std::function<void(std::string_view)>& each) {
    std::string cursor = "0";
    do {
        auto arguments = on(key);
        const auto reply = run(page_script(), std::move(arguments.add(cursor)));
        const auto parts = items(*reply, 1);
        cursor = text(*parts[0]);
        for (const auto* entry : parts.subspan(1)) each(text(*entry));
    } while (cursor != "0");
}

void RollbackServer::each_batch(const std::string& index, std::string_view list, int before,
                                const std::function<void(const Batch&)>& each) {
    std::vector<std::string> uids;
    const auto read = [&] {
        auto arguments = on("batches:index");
        arguments.add(list).add(before);
        const auto asked = std::min(uids.size(), batches_max);
        for (std::size_t i = 0; i < asked; ++i) arguments.add(uids[i]);
        const auto reply = run(batches_script(), std::move(arguments));
        const auto parts = items(*reply, 4);
        for (std::size_t i = 0; i + 3 < parts.size(); i += 4) {
            Batch batch{.uid = std::string{text(*parts[i])},
                        .subscriber = std::string{text(*parts[i + 2])},
                        .is_set_aside = number(*parts[i + 1]) == 1,
                        .messages = {}};
            for (const auto* message : items(*parts[i + 3])) {
                batch.messages.emplace_back(text(*message));
            }
            if (!batch.subscriber.empty()) each(batch);
        }
        uids.erase(uids.begin(), uids.begin() + static_cast<std::ptrdiff_t>(parts.size() / 4));
    };
    each_entry(index, [&](std::string_view uid) {
        uids.emplace_back(uid);
        if (uids.size() >= batches_max) read();
    });
    while (!uids.empty()) read();
}

void RollbackServer::each_queued_batch(const std::function<void(const Batch&)>& each) {
    each_batch("batches:index", "batches:", 3, each);
}

void RollbackServer::each_dead_batch(const std::function<void(const Batch&)>& each) {
    each_batch("routemaster:dead", "routemaster:dead_batch:", 4, each);
}

void RollbackServer::set_aside(const std::vector<std::string>& batches) {
    for (std::size_t first = 0; first < batches.size(); first += batches_max) {
        auto arguments = on("batches:index");
        const auto end = std::min(first + batches_max, batches.size());
        for (auto i = first; i < end; ++i) arguments.add(batches[i]);
        run(set_aside_script(), std::move(arguments));
    }
}

}  // namespace routemaster::redis
