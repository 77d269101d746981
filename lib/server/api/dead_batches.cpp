#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "handlers.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {
namespace {

/// Steps that move all batches that may be DEAD at once.
constexpr std::uint32_t rounds_max = subscription_dead_max / dead_moved_max;

/// Whose batches a call is about: clients ask for their own at `/subscriber/dead`, root for
/// anybody's at `/subscribers/:token/dead`.
std::string owner_of(const Call& call) {
    return call.caller().kind == Caller::Kind::root ? std::string{call.segment(1)}
                                                    : call.caller().token;
}

/// The batch that the path names, one segment further on for root. Nothing when it is no id.
std::optional<Uid> batch_of(const Call& call) {
    return Uid::parse(call.segment(call.caller().kind == Caller::Kind::root ? 3 : 2));
}

void answer_unknown(Call& call) { call.answer_text(404, "dead batch not found"); }

/// As an object that is not closed yet.
void append_status(std::string& json, const DeadBatchStatus& batch) {
    json.append(R"({"uid":")").append(batch.uid.text());
    json.append(R"(","created_at":)").append(std::to_string(to_milliseconds(batch.created_at)));
    json.append(R"(,"died_at":)").append(std::to_string(to_milliseconds(batch.died_at)));
    json.append(R"(,"attempts":)").append(std::to_string(batch.attempts));
    json.append(R"(,"event_count":)").append(std::to_string(batch.events));
    json.append(R"(,"error":)");
    append_json_text(json, batch.error);
}

void redeliver_more(Call& call, std::uint64_t before, std::uint32_t round) {
    call.perform(RedeliverDeadBatches{owner_of(call)}, call.now(),
                 [before, round](Call& done, Count count) {
                     const auto total = before + count.value;
                     if (count.value == dead_moved_max && round < rounds_max) {
                         return redeliver_more(done, total, round + 1);
                     }
                     done.answer_json(200, R"({"batches":)" + std::to_string(total) + "}");
                 });
}

void drop_more(Call& call, Dropped before, std::uint32_t round) {
    call.perform(
        DropDeadBatches{owner_of(call)}, call.now(), [before, round](Call& done, Dropped dropped) {
            const Dropped total{before.batches + dropped.batches, before.events + dropped.events};
            if (dropped.batches == dead_moved_max && round < rounds_max) {
                return drop_more(done, total, round + 1);
            }
            done.answer_json(200, R"({"batches":)" + std::to_string(total.batches) +
                                      R"(,"events":)" + std::to_string(total.events) + "}");
        });
}

}  // namespace

void list_dead(Call& call) {
    call.perform(ListDeadBatches{owner_of(call)}, call.now(),
                 [](Call& done, const std::vector<DeadBatchStatus>& batches) {
                     std::string json;
                     for (const auto& batch : batches) {
                         json.push_back(json.empty() ? '[' : ',');
                         append_status(json, batch);
                         json.push_back('}');
                     }
                     done.answer_json(200, json.empty() ? "[]" : std::move(json) + "]");
                 });
}

void show_dead(Call& call) {
    const auto uid = batch_of(call);
    if (!uid) return answer_unknown(call);
    call.perform(FindDeadBatch{owner_of(call), *uid}, call.now(),
                 [](Call& done, const std::optional<DeadMessages>& found) {
                     if (!found) return answer_unknown(done);
                     const auto body = delivery_body(found->messages);
                     std::string json;
                     append_status(json, found->status);
                     json.append(R"(,"undecodable":)").append(std::to_string(body.undecodable));
                     json.append(R"(,"events":)").append(body.json).append("}");
                     done.answer_json(200, std::move(json));
                 });
}

void redeliver_dead(Call& call) {
    const auto uid = batch_of(call);
    if (!uid) return answer_unknown(call);
    call.perform(RedeliverDeadBatches{owner_of(call), *uid}, call.now(),
                 [](Call& done, Count count) {
                     count.value == 0 ? answer_unknown(done) : done.answer(204);
                 });
}

void redeliver_all_dead(Call& call) { redeliver_more(call, 0, 1); }

void drop_dead(Call& call) {
    const auto uid = batch_of(call);
    if (!uid) return answer_unknown(call);
    call.perform(DropDeadBatches{owner_of(call), *uid}, call.now(),
                 [](Call& done, Dropped dropped) {
                     dropped.batches == 0 ? answer_unknown(done) : done.answer(204);
                 });
}

void drop_all_dead(Call& call) { drop_more(call, {}, 1); }

}  // namespace routemaster::api
