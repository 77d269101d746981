#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::testing {
namespace {

/// How long no worker sends a heartbeat before each step. After this time, workers may be declared
/// dead.
constexpr Duration silence{10'000};

/// The time limit for confirming timers. It is longer than `silence`, because the timers must not
/// be retried.
constexpr Duration timer_confirm = 2 * silence;

/// A store with data for a step of each kind: a token, topics, batches (waiting, under delivery and
/// DEAD), jobs (waiting, leased and BURIED), a recurring job, a job batch, and timers in all
/// states. Two workers have one lease each, and the namespace of timers has a listener.
struct BusyStore {
    explicit BusyStore(Scenario& scenario) : s{scenario} {
        post_timer("dead", 1);
        take_timer();
        s.advance(timer_confirm);
        take_timer();
        s.advance(timer_confirm);
        post_timer("fired", 1);
        take_timer();
        post_timer("due");
        post_timer("due, too");
        s.perform(PutToken{"shop", "shop"});
        s.subscribe("audit", {"refunds"}, {.timeout = Duration{0}, .attempts_max = 1});
        s.publish("refunds");
        dead = s.kill_next();
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        delivery = s.take();
        s.publish("refunds");
        s.push("buried");
        s.bury_next();
        s.push("leased");
        work = s.take_work(2);
        s.push("first");
        s.push("second");
        s.perform(PutRecurringJob{"report", settings("tick"), s.uid()});
        batch = s.perform(create("import")).id;
        s.push_with("batched", {.batch = batch});
        s.advance(silence);
    }

    void post_timer(const char* id, std::uint32_t retries_max = 0) const {
        s.perform(PostTimer{.space = timer_space,
                            .id = id,
                            .payload = encode(Value{id}),
                            .due_at = s.now(),
                            .retries_max = retries_max});
    }
    void take_timer() const { s.perform(step(std::type_identity<TakeTimers>{})); }

    /// What happens between a step and its repetition.
    template <class S>
    void before_repeating(const S&) const {}
    void before_repeating(const PostTimer&) const {
        for (int due = 0; due < 3; ++due) take_timer();
    }

    Uid waiting() {
        s.subscribe("slow", {"alarms"}, {.timeout = Duration{60'000}});
        s.publish("alarms");
        return s.batches("slow").at(0).uid;
    }

    // A step of each kind. Each step changes the store unless it is read-only. If a kind is
    // missing, the call does not compile.

    PublishEvent step(std::type_identity<PublishEvent>) { return s.publication("orders", "event"); }
    RemoveTopic step(std::type_identity<RemoveTopic>) {
        return {.name = "orders", .publisher = {}};
    }
    ListTopics step(std::type_identity<ListTopics>) { return {}; }
    Subscribe step(std::type_identity<Subscribe>) {
        return {"mail", {"orders"}, {.callback = "https://mail.example/events"}};
    }
    Unsubscribe step(std::type_identity<Unsubscribe>) { return {"audit", "refunds"}; }
    RemoveSubscriber step(std::type_identity<RemoveSubscriber>) { return {"audit"}; }
    ListSubscribers step(std::type_identity<ListSubscribers>) { return {}; }
    FindSubscriber step(std::type_identity<FindSubscriber>) { return {"audit"}; }
    PutToken step(std::type_identity<PutToken>) { return {"mail", "mail"}; }
    RemoveToken step(std::type_identity<RemoveToken>) { return {"shop"}; }
    FindToken step(std::type_identity<FindToken>) { return {"shop"}; }
    ListTokens step(std::type_identity<ListTokens>) { return {}; }
    PushJob step(std::type_identity<PushJob>) { return {work_queue, "third", s.now()}; }
    AcquireJobs step(std::type_identity<AcquireJobs>) {
        return {.queue = work_queue, .worker = Scenario::worker(3), .limit = 1, .known = 0};
    }
    AckJob step(std::type_identity<AckJob>) { return {work}; }
    NackJob step(std::type_identity<NackJob>) { return {work, s.now() + Duration{1'000}}; }
    ReleaseJob step(std::type_identity<ReleaseJob>) { return {work, s.now() + Duration{1'000}}; }
    FailJob step(std::type_identity<FailJob>) { return {work, "broken", s.now()}; }
    FindJob step(std::type_identity<FindJob>) { return {work_queue, work.id}; }
    ExplainJob step(std::type_identity<ExplainJob>) { return {work_queue, work.id}; }
    ListJobs step(std::type_identity<ListJobs>) { return {.queue = work_queue}; }
    KickJobs step(std::type_identity<KickJobs>) { return {.queue = work_queue}; }
    DeleteJob step(std::type_identity<DeleteJob>) {
        return {work_queue, s.jobs(JobStatus::State::ready).front().id};
    }
    CancelJob step(std::type_identity<CancelJob>) { return {work_queue, work.id}; }
    PauseQueue step(std::type_identity<PauseQueue>) { return {work_queue, true}; }
    LimitQueue step(std::type_identity<LimitQueue>) {
        return {work_queue, {.queue = RateLimit{.jobs = 5}}};
    }
    ListQueues step(std::type_identity<ListQueues>) { return {}; }
    PutRecurringJob step(std::type_identity<PutRecurringJob>) {
        return {"another", settings("another"), s.uid()};
    }
    FindRecurringJob step(std::type_identity<FindRecurringJob>) { return {"report"}; }
    ListRecurringJobs step(std::type_identity<ListRecurringJobs>) { return {}; }
    RemoveRecurringJob step(std::type_identity<RemoveRecurringJob>) { return {"report"}; }
    PauseRecurringJob step(std::type_identity<PauseRecurringJob>) { return {"report", true}; }
    DueRecurringJobs step(std::type_identity<DueRecurringJobs>) { return {}; }
    RunRecurringJob step(std::type_identity<RunRecurringJob>) {
        const auto job = s.perform(FindRecurringJob{"report"}).value();
        return {.name = "report",
                .revision = job.revision,
                .at = job.next_at,
                .until = s.now(),
                .next = s.now() + Duration{60'000},
                .push = std::make_shared<const PushJob>(
                    push_of("report", job.settings, s.now(), s.now()))};
    }
    PostTimer step(std::type_identity<PostTimer>) {
        return {.space = timer_space, .id = "new", .payload = encode(Value{}), .due_at = s.now()};
    }
    CancelTimer step(std::type_identity<CancelTimer>) { return {timer_space, "due"}; }
    PostponeTimer step(std::type_identity<PostponeTimer>) {
        return {timer_space, "due", s.now() + Duration{1'000}};
    }
    FindTimer step(std::type_identity<FindTimer>) { return {timer_space, "due"}; }
    ListTimers step(std::type_identity<ListTimers>) { return {.space = timer_space}; }
    CountTimers step(std::type_identity<CountTimers>) { return {timer_space}; }
    TakeTimers step(std::type_identity<TakeTimers>) const {
        return {
            .space = timer_space, .listener = "ear", .limit = 1, .confirm_within = timer_confirm};
    }
    ConfirmTimer step(std::type_identity<ConfirmTimer>) { return {timer_space, "fired"}; }
    CompleteTimer step(std::type_identity<CompleteTimer>) {
        return {timer_space,
                "fired",
                0,
                {{work_queue, "third", s.now()}},
                {s.publication("orders", "event")},
                {step(std::type_identity<PostTimer>{})}};
    }
    GiveUpTimer step(std::type_identity<GiveUpTimer>) { return {timer_space, "fired"}; }
    LeaveTimers step(std::type_identity<LeaveTimers>) { return {timer_space, "ear"}; }
    RepostDeadTimers step(std::type_identity<RepostDeadTimers>) {
        return {timer_space, "dead", s.now()};
    }
    DropDeadTimers step(std::type_identity<DropDeadTimers>) { return {timer_space, "dead"}; }
    Heartbeat step(std::type_identity<Heartbeat>) { return {work.worker}; }
    RetireWorker step(std::type_identity<RetireWorker>) { return {work.worker}; }
    ScrubWorkers step(std::type_identity<ScrubWorkers>) { return {silence}; }
    ListWorkers step(std::type_identity<ListWorkers>) { return {}; }
    FindQueueWorkers step(std::type_identity<FindQueueWorkers>) { return {work_queue}; }
    CountJobs step(std::type_identity<CountJobs>) { return {work_queue}; }
    BeginDelivery step(std::type_identity<BeginDelivery>) { return {delivery, backoff_max}; }
    SettleDelivery step(std::type_identity<SettleDelivery>) {
        s.begin(delivery);
        return {.lease = delivery, .delivered = true, .begun_at = s.now()};
    }
    ListBatches step(std::type_identity<ListBatches>) { return {.token = "audit"}; }
    FindBatch step(std::type_identity<FindBatch>) { return {"slow", waiting()}; }
    DeliverBatch step(std::type_identity<DeliverBatch>) { return {"slow", waiting()}; }
    DropBatch step(std::type_identity<DropBatch>) { return {"slow", waiting()}; }
    ListDeadBatches step(std::type_identity<ListDeadBatches>) { return {.token = "audit"}; }
    FindDeadBatch step(std::type_identity<FindDeadBatch>) { return {"audit", dead}; }
    RedeliverDeadBatches step(std::type_identity<RedeliverDeadBatches>) { return {"audit"}; }
    DropDeadBatches step(std::type_identity<DropDeadBatches>) { return {"audit"}; }
    MeasureUse step(std::type_identity<MeasureUse>) { return {}; }
    DropOldestBatches step(std::type_identity<DropOldestBatches>) { return {1}; }
    AddToCounters step(std::type_identity<AddToCounters>) { return {{{{"process", {}}, 1}}}; }
    ListCounters step(std::type_identity<ListCounters>) { return {}; }
    CompleteJob step(std::type_identity<CompleteJob>) {
        return {work,
                {{work_queue, "third", s.now()}, {work_queue, "fourth", s.now()}},
                {s.publication("orders", "event")},
                {step(std::type_identity<PostTimer>{})}};
    }

    CreateJobBatch step(std::type_identity<CreateJobBatch>) { return create("another"); }
    CloseJobBatch step(std::type_identity<CloseJobBatch>) { return {batch}; }
    FindJobBatch step(std::type_identity<FindJobBatch>) { return {batch}; }
    ListJobBatches step(std::type_identity<ListJobBatches>) { return {}; }
    RemoveJobBatch step(std::type_identity<RemoveJobBatch>) { return {batch}; }

    MeasureThroughput step(std::type_identity<MeasureThroughput>) { return {work_queue}; }

    static CreateJobBatch create(const char* name) {
        return {std::make_shared<const JobBatchSettings>(JobBatchSettings{.name = name})};
    }

    static std::shared_ptr<const RecurringSettings> settings(const char* job) {
        return std::make_shared<const RecurringSettings>(
            RecurringSettings{.schedule = "@every 1m", .queue = work_queue, .job = job});
    }

    Scenario& s;
    Watch ear = s.store().watch(timer_watch(timer_space, "ear"), [] {});
    Lease delivery;  ///< Lease of worker 1 on the delivery of billing's CURRENT batch.
    Lease work;      ///< Lease of worker 2 on a job.
    Uid dead;
    JobBatchId batch = 0;
};

/// The number of entities in a snapshot. The few counters of the store itself are not included.
std::uint64_t things_in(const Snapshot& all) {
    std::uint64_t things =
        all.topics.size() + all.tokens.size() + all.recurring.size() + all.job_batches.size();
    for (const auto& subscriber : all.subscribers) things += 1 + subscriber.topics.size();
    for (const auto& [token, batches] : all.batches) {
        for (const auto& batch : batches) things += batch.events;
    }
    for (const auto& [token, batches] : all.dead) {
        for (const auto& batch : batches) things += batch.events;
    }
    for (const auto& queue : all.queues) {
        const auto& jobs = queue.status;
        things += jobs.scheduled + jobs.ready + jobs.pending + jobs.buried;
    }
    for (const auto& timers : all.timers) things += timers.size();
    for (const auto& counter : all.counters) {
        if (counter.key.name == "process") ++things;
    }
    return things;
}

/// Removes the numbers of attempts. A repeated step may count an attempt twice, because it may
/// deliver a batch twice.
Snapshot without_attempts(Snapshot all) {
    for (auto& [token, batches] : all.batches) {
        for (auto& batch : batches) batch.attempts = 0;
    }
    return all;
}

template <class S>
void expect_true_traits(const StoreFixture& fixture) {
    const auto store = fixture.open();
    Scenario s{*store, fixture.traits};
    BusyStore busy{s};
    const auto step = busy.step(std::type_identity<S>{});
    const auto listeners = [&] { return s.perform(CountTimers{timer_space}).listeners; };
    const auto before = s.snapshot();
    const auto listeners_before = listeners();
    s.perform(step);
    const auto once = s.snapshot();
    const bool leaves = listeners() != listeners_before;
    busy.before_repeating(step);
    const auto repeated_on = s.snapshot();
    s.perform(step);
    const auto twice = s.snapshot();

    const auto said = [](const char* what) { return std::string{S::traits.name} + what; };
    const Changes changes = S::traits.changes;
    const bool keeps = changes == Changes::state || changes == Changes::progress;
    expect_equal(keeps, !(once == before), said(" changes the stored state"));
    if (!keeps) {
        const auto scrubbed = s.perform(ScrubWorkers{silence}).jobs;
        expect_equal(changes == Changes::liveness, scrubbed == 1 || leaves,
                     said(" changes the liveness of a worker or listener"));
    }
    expect_equal(bool{S::traits.repeatable},
                 without_attempts(twice) == without_attempts(repeated_on),
                 said(" has the same effect when repeated"));
    expect_equal(CapacityNeed{S::traits.needs} != CapacityNeed::none,
                 things_in(once) > things_in(before), said(" needs capacity"));
}

template <class... S>
void expect_true_traits_of_all(const StoreFixture& fixture, const std::variant<S...>*) {
    (expect_true_traits<S>(fixture), ...);
}

}  // namespace

void add_step_trait_cases(StoreCases& add) {
    add.with_stores("what each step says of itself is true", [](const StoreFixture& fixture) {
        expect_true_traits_of_all(fixture, static_cast<const Step*>(nullptr));
    });
}

}  // namespace routemaster::testing
