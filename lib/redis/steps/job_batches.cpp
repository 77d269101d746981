#include "redis/steps/job_batches.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/codec/batch_callback.hpp"
#include "lua_sources.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/protocols.hpp"
#include "routemaster/error.hpp"

namespace routemaster::redis {
namespace {

constexpr std::string_view open_key = "routemaster:job_batches";

std::optional<TimePoint> time_in(const redisReply& part, const ScriptReply& reply) {
    return absent(part) ? std::nullopt : std::optional{reply.time(part)};
}

std::optional<JobBatchCallback> callback_in(const redisReply& part) {
    if (absent(part)) return std::nullopt;
    auto callback = detail::decode_callback(text(part));
    if (!callback) throw Unexpected{};
    return *std::move(callback);
}

std::uint64_t count_in(const redisReply& part) { return absent(part) ? 0 : count(part).value; }

JobBatch batch_in(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 16);
    JobBatch batch;
    batch.id = count(*parts[0]).value;
    batch.settings.name = text(*parts[1]);
    batch.created_at = reply.time(*parts[2]);
    batch.closed_at = time_in(*parts[3], reply);
    batch.ended_at = time_in(*parts[4], reply);
    batch.succeeded_at = time_in(*parts[5], reply);
    batch.settings.on_success = callback_in(*parts[6]);
    batch.settings.on_end = callback_in(*parts[7]);
    batch.success_job = count_in(*parts[8]);
    batch.end_job = count_in(*parts[9]);
    auto& progress = batch.progress;
    const std::array numbers{&progress.total,     &progress.succeeded, &progress.buried,
                             &progress.cancelled, &progress.expired,   &progress.forgotten};
    for (std::size_t i = 0; i < numbers.size(); ++i) *numbers.at(i) = count_in(*parts[10 + i]);
    return batch;
}

}  // namespace

template <>
struct StepProtocol<CreateJobBatch> {
    static Script script() {
        using namespace lua;
        return compose(CreateJobBatch::traits, {expect, index, counter, job_batch_list},
                       create_job_batch);
    }
    static void request(Request& request, const CreateJobBatch& step) {
        request.on(open_key)
            .add(step.settings->name)
            .add(detail::encode_callback(step.settings->on_success))
            .add(detail::encode_callback(step.settings->on_end));
    }
    static JobBatchCreated reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 2);
        return {count(*parts[0]).value, number(*parts[1]) == 1};
    }
};

template <>
struct StepProtocol<CloseJobBatch> {
    static Script script() {
        using namespace lua;
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        return compose(CloseJobBatch::traits,
                       {expect, index, counter, groups, ends, job_batch, job_batch_list},
                       close_job_batch);
    }
    static void request(Request& request, const CloseJobBatch& step) {
        request.on(open_key).add(step.id);
    }
    static JobBatchClosure reply(const ScriptReply& reply) {
        return number(reply.value) == 1 ? JobBatchClosure::closed : JobBatchClosure::unknown;
    }
};

template <>
struct StepProtocol<FindJobBatch> {
    static Script script() {
        return compose(FindJobBatch::traits, {lua::job_batch_reply}, lua::find_job_batch);
    }
    static void request(Request& request, const FindJobBatch& step) {
        request.on(open_key).add(step.id);
    }
    static FindJobBatch::Reply reply(const ScriptReply& reply) {
        if (absent(reply.value)) return {};
        return batch_in(reply.value, reply);
    }
};

template <>
struct StepProtocol<ListJobBatches> {
    static Script script() {
        return compose(ListJobBatches::traits, {lua::job_batch_reply}, lua::list_job_batches);
    }
    static void request(Request& request, const ListJobBatches& step) {
        request.on(open_key, step.ended ? ":ended" : "").add(step.after).add(step.limit);
    }
    static JobBatchPage reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        JobBatchPage page{.next = count(*parts[0]).value};
        for (const auto* part : parts.subspan(1)) page.batches.push_back(batch_in(*part, reply));
        return page;
    }
};

template <>
struct StepProtocol<RemoveJobBatch> {
    static Script script() {
        using namespace lua;
        return compose(RemoveJobBatch::traits, {expect, index, counter, job_batch_list},
                       remove_job_batch);
    }
    static void request(Request& request, const RemoveJobBatch& step) {
        request.on(open_key).add(step.id);
    }
    static Removal reply(const ScriptReply& reply) { return removal(reply.value); }
};

template struct Protocols<JobBatchSteps>;

}  // namespace routemaster::redis
