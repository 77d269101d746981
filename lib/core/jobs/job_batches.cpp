#include "routemaster/job_batches.hpp"

#include <memory>
#include <utility>

#include "core/codec/job_check.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {
namespace {

Result<void> check_callback(const char* field, const std::optional<JobBatchCallback>& callback) {
    if (!callback) return {};
    const auto at_field = [&](const std::string& text) {
        return Error{Errc::invalid, std::string{field} + ": " + text};
    };
    const auto job = decode_job(callback->job);
    if (!job) return at_field("job: must be an encoded job");
    if (auto checked = detail::check_job(*job); !checked) {
        return at_field(checked.error().context());
    }
    return {};
}

Result<CreateJobBatch> create_step(JobBatchSettings settings) {
    // A generated name makes the step repeatable when its reply is lost.
    if (settings.name.empty()) settings.name = Uid{entropy(), entropy()}.text();
    if (auto checked = check_callback("on_success", settings.on_success); !checked) {
        return checked.error();
    }
    if (auto checked = check_callback("on_end", settings.on_end); !checked) return checked.error();
    return CreateJobBatch{std::make_shared<const JobBatchSettings>(std::move(settings))};
}

Result<bool> whether(const Result<JobBatchClosure>& closure) {
    if (!closure) return closure.error();
    return *closure == JobBatchClosure::closed;
}

}  // namespace

JobBatchCallback batch_callback(std::string queue, const Job& job,
                                JobBatchCallbackOptions options) {
    return {.queue = std::move(queue),
            .job = encode_job(job),
            .attempts_max = options.attempts_max,
            .priority = options.priority,
            .timeout = options.timeout,
            .metadata = std::move(options.metadata)};
}

Result<JobBatchCreated> JobBatches::create(JobBatchSettings settings) {
    auto step = create_step(std::move(settings));
    if (!step) return step.error();
    return perform(store_, *std::move(step), clock_.now());
}

void JobBatches::create(JobBatchSettings settings,
                        std::function<void(Result<JobBatchCreated>)> done) {
    auto step = create_step(std::move(settings));
    if (!step) return done(step.error());
    submit(store_, *std::move(step), clock_.now(), std::move(done));
}

Result<bool> JobBatches::close(JobBatchId id) {
    return whether(perform(store_, CloseJobBatch{id}, clock_.now()));
}

void JobBatches::close(JobBatchId id, std::function<void(Result<bool>)> done) {
    submit(
        store_, CloseJobBatch{id}, clock_.now(),
        [done = std::move(done)](const Result<JobBatchClosure>& reply) { done(whether(reply)); });
}

Result<std::optional<JobBatch>> JobBatches::find(JobBatchId id) const {
    return perform(store_, FindJobBatch{id}, clock_.now());
}

void JobBatches::find(JobBatchId id,
                      std::function<void(Result<std::optional<JobBatch>>)> done) const {
    submit(store_, FindJobBatch{id}, clock_.now(), std::move(done));
}

Result<JobBatchPage> JobBatches::list(bool ended, JobBatchId after, std::uint32_t limit) const {
    return perform(store_, ListJobBatches{ended, after, limit}, clock_.now());
}

void JobBatches::list(bool ended, JobBatchId after, std::uint32_t limit,
                      std::function<void(Result<JobBatchPage>)> done) const {
    submit(store_, ListJobBatches{ended, after, limit}, clock_.now(), std::move(done));
}

Result<Removal> JobBatches::remove(JobBatchId id) {
    return perform(store_, RemoveJobBatch{id}, clock_.now());
}

void JobBatches::remove(JobBatchId id, std::function<void(Result<Removal>)> done) {
    submit(store_, RemoveJobBatch{id}, clock_.now(), std::move(done));
}

}  // namespace routemaster
