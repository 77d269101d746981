#include "joint_call.hpp"

#include <functional>
#include <utility>

#include "error_reply.hpp"
#include "wire.hpp"

namespace routemaster::redis {

namespace {

using Done = std::function<void(CallResult)>;

CallResult part_of(redisReply& reply, std::size_t place) {
    ServerReply part{std::exchange(reply.element[place], nullptr)};
    if (part->type != REDIS_REPLY_ERROR) return part;
    return parse_error_reply(text_of(*part), {}).error;
}

void report(const std::vector<Done>& calls, const CallResult& result) {
    if (!result) {
        for (const auto& done : calls) done(result.error());
        return;
    }
    auto& reply = **result;
    const bool fits = reply.type == REDIS_REPLY_ARRAY && reply.elements == calls.size();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i](fits ? part_of(reply, i)
                      : Error{Errc::corrupted,
                              "the server's reply does not have an entry for each call"});
    }
}

}  // namespace

bool can_join(const Call& first, const Call& next) noexcept {
    return first.joint != nullptr && first.joint == next.joint &&
           first.arguments.shares_with(next.arguments);
}

Call join(Call first, std::vector<Call> further) {
    Call all{.script = first.joint,
             .arguments = std::move(first.arguments),
             .done = {},
             .joined = 1 + further.size()};
    std::vector<Done> reported;
    reported.reserve(all.joined);
    reported.push_back(std::move(first.done));
    for (auto& call : further) {
        all.arguments.add_own_of(call.arguments);
        reported.push_back(std::move(call.done));
    }
    all.done = [reported = std::move(reported)](const CallResult& result) {
        report(reported, result);
    };
    return all;
}

}  // namespace routemaster::redis
