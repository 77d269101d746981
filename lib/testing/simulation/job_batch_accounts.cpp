#include "job_batch_accounts.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {

std::string batch_name_of(std::int64_t number) { return "batch-" + std::to_string(number); }

void JobBatchAccounts::asked(const Step& step) {
    if (const auto* creation = std::get_if<CreateJobBatch>(&step)) {
        created_.insert(creation->settings->name);
    } else if (const auto* closure = std::get_if<CloseJobBatch>(&step)) {
        if (auto* account = find(closure->id)) account->may_be_closed = true;
    }
}

void JobBatchAccounts::replied(const Step& step, const Outcome& outcome) {
    if (!outcome) return;
    if (const auto* creation = std::get_if<CreateJobBatch>(&step)) {
        const auto& created = std::get<JobBatchCreated>(*outcome);
        auto& account = accounts_[created.id];
        const auto callback = callback_in(creation->settings->on_end->job);
        account.number = callback ? callback->second : 0;
    } else if (const auto* closure = std::get_if<CloseJobBatch>(&step)) {
        auto* account = find(closure->id);
        const bool closed = std::get<JobBatchClosure>(*outcome) == JobBatchClosure::closed;
        if (account == nullptr) return;
        if (!closed)
            context_.fail("the store lost a batch of jobs: " + batch_name_of(account->number));
        account->closed = true;
    } else if (const auto* push = std::get_if<PushJob>(&step)) {
        const auto& pushed = std::get<Pushed>(*outcome);
        auto* account = find(push->options.batch);
        if (account == nullptr || pushed != PushOutcome::pushed) return;
        account->total.add();
        batches_[pushed.id] = push->options.batch;
        // A job with dependencies is not certain to run: after the deletion of a dependency, the
        // job is BURIED.
        if (push->after.empty()) account->pending.insert(pushed.id);
    } else if (const auto* deletion = std::get_if<DeleteJob>(&step)) {
        const auto batch = batches_.find(deletion->id);
        if (std::get<Deletion>(*outcome) != Deletion::deleted || batch == batches_.end()) return;
        forget(deletion->id);
        accounts_[batch->second].cancelled.add();
    }
}

void JobBatchAccounts::acquired(const Lease& lease) {
    if (lease.queue == callback_queue) {
        if (const auto callback = callback_in(lease.job)) ran(lease, *callback);
    } else if (lease.attempt >= batched_attempts_max) {
        // The job is BURIED unless this attempt succeeds, so its end is uncertain.
        forget(lease.id);
    }
}

void JobBatchAccounts::done(const Lease& lease) {
    auto* account = find(lease.options->batch);
    if (account == nullptr) return;
    forget(lease.id);
    account->succeeded.add();
}

JobBatchAccounts::Account* JobBatchAccounts::find(JobBatchId id) {
    const auto found = accounts_.find(id);
    return found == accounts_.end() ? nullptr : &found->second;
}

void JobBatchAccounts::forget(JobId id) {
    const auto batch = batches_.find(id);
    if (batch != batches_.end()) accounts_[batch->second].pending.erase(id);
}

std::optional<JobBatchAccounts::Callback> JobBatchAccounts::callback_in(const std::string& job) {
    const auto decoded = decode_job(job);
    if (!decoded || (decoded->name != success_name && decoded->name != end_name)) {
        return std::nullopt;
    }
    const auto* number = decoded->arguments.front().get_if<std::int64_t>();
    return Callback{decoded->name, number != nullptr ? *number : 0};
}

void JobBatchAccounts::ran(const Lease& lease, const Callback& callback) {
    const auto& [name, number] = callback;
    const auto what = name + " of " + batch_name_of(number);
    if (callbacks_.emplace(callback, lease.id).first->second != lease.id) {
        context_.fail("the store pushed a callback twice: " + what);
    }
    const auto batch =
        std::find_if(accounts_.begin(), accounts_.end(),
                     [wanted = number](const auto& each) { return each.second.number == wanted; });
    if (batch == accounts_.end()) return;
    const auto& account = batch->second;
    if (!account.may_be_closed)
        context_.fail("a batch of jobs ended before it was closed: " + what);
    // A job that was pushed after the end of the batch is allowed, because kicking BURIED jobs
    // continues an ended batch.
    const auto first = account.pending.begin();
    if (first != account.pending.end() && *first < lease.id) {
        context_.fail("a batch of jobs ended before its job " + std::to_string(*first) + ": " +
                      what);
    }
    if (name == success_name && account.succeeded.most < account.total.least) {
        context_.fail("a batch of jobs succeeded before all of its jobs had: " + what);
    }
}

std::string JobBatchAccounts::debt() const {
    for (const auto& [callback, id] : due_) {
        const auto run = callbacks_.find(callback);
        if (run != callbacks_.end() && run->second == id) continue;
        return "a callback of a batch of jobs was never run: " + callback.first + " of " +
               batch_name_of(callback.second);
    }
    return {};
}

void JobBatchAccounts::doubt(const Step& step) {
    const auto may_be_done = [this](const Lease& lease) {
        auto* account = find(lease.options->batch);
        if (account == nullptr) return;
        forget(lease.id);
        ++account->succeeded.most;
    };
    if (const auto* push = std::get_if<PushJob>(&step)) {
        if (auto* account = find(push->options.batch)) ++account->total.most;
    } else if (const auto* ack = std::get_if<AckJob>(&step)) {
        may_be_done(ack->lease);
    } else if (const auto* completion = std::get_if<CompleteJob>(&step)) {
        may_be_done(completion->lease);
    } else if (const auto* deletion = std::get_if<DeleteJob>(&step)) {
        const auto batch = batches_.find(deletion->id);
        if (batch == batches_.end()) return;
        forget(deletion->id);
        ++accounts_[batch->second].cancelled.most;
    } else if (const auto* acquire = std::get_if<AcquireJobs>(&step)) {
        // The acquisition without a reply may have begun an attempt at any of the jobs. No job is
        // certain to wait any more.
        if (acquire->queue != batched_queue) return;
        for (auto& [id, account] : accounts_) account.pending.clear();
    }
}

void JobBatchAccounts::compare(const std::vector<JobBatch>& listed,
                               const std::map<JobBatchId, ListedBatchJobs>& jobs) {
    std::size_t known = 0;
    for (const auto& batch : listed) {
        const auto& name = batch.settings.name;
        if (!created_.contains(name))
            context_.fail("the store has a batch of jobs that no client created: " + name);
        auto& account = accounts_[batch.id];
        const auto callback = callback_in(batch.settings.on_end->job);
        account.number = callback ? callback->second : 0;
        const auto there = jobs.find(batch.id);
        check(batch, account, there == jobs.end() ? ListedBatchJobs{} : there->second);
        const auto& progress = batch.progress;
        account.closed = batch.closed_at.has_value();
        account.total = {progress.total, progress.total};
        account.succeeded = {progress.succeeded, progress.succeeded};
        account.cancelled = {progress.cancelled, progress.cancelled};
        if (batch.end_job != 0) due_[{end_name, account.number}] = batch.end_job;
        if (batch.success_job != 0) due_[{success_name, account.number}] = batch.success_job;
        ++known;
    }
    if (known != accounts_.size()) context_.fail("the store lost a batch of jobs");
}

void JobBatchAccounts::check(const JobBatch& batch, const Account& account,
                             const ListedBatchJobs& jobs) const {
    const auto& progress = batch.progress;
    const auto must = [&](bool truth, const char* broken) {
        if (!truth) context_.fail(std::string{broken} + ": " + batch.settings.name);
    };
    must(account.total.may_be(progress.total), "wrong number of jobs in a batch");
    must(account.succeeded.may_be(progress.succeeded),
         "wrong number of successful jobs in a batch");
    must(account.cancelled.may_be(progress.cancelled), "wrong number of deleted jobs in a batch");
    must(progress.expired == 0 && progress.forgotten == 0,
         "a batch counts expired or forgotten jobs, but the simulation has none");
    must(progress.buried == jobs.buried, "wrong number of BURIED jobs in a batch");
    must(progress.pending() == jobs.pending, "wrong number of pending jobs in a batch");
    must(progress.total == progress.succeeded + progress.buried + progress.cancelled + jobs.pending,
         "the counts of a batch do not add up to its total");
    must(account.may_be_closed || !batch.closed_at, "a batch is closed, but no client closed it");
    must(batch.closed_at || !account.closed, "a closed batch is open again");
    must(batch.closed_at || !batch.ended_at, "a batch has ended, but is open");
    must(!batch.closed_at || progress.pending() > 0 || batch.ended_at,
         "a closed batch without pending jobs has not ended");
    const bool all = progress.succeeded == progress.total;
    must(!batch.ended_at || !all || batch.succeeded_at,
         "an ended batch whose jobs all succeeded has not succeeded");
    must(all || !batch.succeeded_at, "a batch has succeeded, but not all of its jobs have");
    must(batch.ended_at.has_value() == (batch.end_job != 0),
         "on_end must be pushed when and only when the batch has ended");
    must(batch.succeeded_at.has_value() == (batch.success_job != 0),
         "on_success must be pushed when and only when the batch has succeeded");
}

}  // namespace routemaster::simulation
