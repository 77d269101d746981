/// @file
/// Every field of a response has its own value, and every field of a request arrives in its step.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/hand_runner.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// Gives fixed replies to steps of some types. Forwards all other steps.
class FixedStore final : public rm::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    /// Replies to steps of type `S` with `reply(step)`.
    template <class S>
    void on(std::function<typename S::Reply(const S&)> reply) {
        replies_.push_back([reply](const rm::Step& step) -> std::optional<rm::Reply> {
            const auto* const wanted = std::get_if<S>(&step);
            if (wanted == nullptr) return std::nullopt;
            return rm::Reply{reply(*wanted)};
        });
    }
    template <class S>
    void always(typename S::Reply reply) {
        on<S>([reply](const S&) { return reply; });
    }

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        for (const auto& reply : replies_) {
            if (const auto fixed = reply(steps.front())) {
                REQUIRE(steps.size() == 1);
                rm::Outcome outcome{*fixed};
                return done({&outcome, 1});
            }
        }
        next().submit(steps, now, std::move(done));
    }

private:
    std::vector<std::function<std::optional<rm::Reply>(const rm::Step&)>> replies_;
};

/// A bus whose store gives fixed replies to the root token.
struct FixedScenario {
    rm::HttpResponse ask(const std::string& method, const std::string& target,
                         std::string body = {}) {
        return ask_at_once(api, request(method, target, root, std::move(body)));
    }
    /// The body of a response, which must be JSON.
    std::string get(const std::string& target) {
        const auto answer = ask("GET", target);
        CHECK(answer.status == 200);
        CHECK(answer.content_type == "application/json");
        CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
        CHECK(rm::parse_json(answer.body));
        return answer.body;
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore memory;
    FixedStore store{memory};
    rm::HttpApi api{store, Scenario::with_clock(default_options(), clock)};
};

rm::TimePoint after_noon(int later) { return noon + rm::Duration{later}; }
std::string at(int later) { return std::to_string(rm::to_milliseconds(after_noon(later))); }

const rm::Uid first_uid{1, 1};
const rm::Uid second_uid{1ULL << 60U, 1};
const std::string first_id{first_uid.text()};
const std::string second_id{second_uid.text()};

/// The workers of a queue: every field has its own value, which depends on `base`.
rm::QueueWorkers workers_from(unsigned base) {
    const auto later = static_cast<int>(base);
    return {.workers = base + 4,
            .handling = base + 3,
            .full = base + 2,
            .capacity = base + 100,
            .busy_since = after_noon(-later - 2),
            .unprofiled = base + 1,
            .last_at = after_noon(-later - 1)};
}

/// The JSON of `workers_from(base)`.
std::string shown_workers(int base) {
    const auto number = [base](int more) { return std::to_string(base + more); };
    return R"({"workers":)" + number(4) + R"(,"handling":)" + number(3) + R"(,"full":)" +
           number(2) + R"(,"capacity":)" + number(100) + R"(,"busy_since":)" + at(-base - 2) +
           R"(,"unprofiled":)" + number(1) + R"(,"last_at":)" + at(-base - 1) + "}";
}

}  // namespace

TEST_CASE("http api: each field of a recurring job, and of its explanation, has its own value") {
    FixedScenario bus;
    rm::RecurringJob job{.name = "report",
                         .settings = {.schedule = "@every 10s",
                                      .queue = "images",
                                      .job = rm::encode_job({"sum", {42}}),
                                      .catch_up = rm::CatchUp::all,
                                      .overlap = true,
                                      .attempts_max = 3,
                                      .priority = -7,
                                      .timeout = rm::Duration{700},
                                      .expires = rm::Duration{60'000},
                                      .metadata = {{"tenant", "shop"}}},
                         .next_at = after_noon(10),
                         .last_at = after_noon(-10),
                         .runs = 12,
                         .kept = 34};
    bus.store.on<rm::FindRecurringJob>([&](const auto&) { return std::optional{job}; });
    bus.store.on<rm::ListRecurringJobs>([&](const auto&) { return std::vector{job}; });
    bus.store.on<rm::FindQueueWorkers>([](const rm::FindQueueWorkers& step) {
        return workers_from(step.queue == rm::recurring_watch ? 10 : 20);
    });
    const auto shown =
        R"({"name":"report","schedule":"@every 10s","time_zone":"UTC","queue":"images",)"
        R"("job":{"name":"sum","arguments":[42],"attempts_max":3,"priority":-7,"timeout":700,)"
        R"("expires":60000,"metadata":{"tenant":"shop"}},"catch_up":"all","overlap":true,)"
        R"("paused":false,"next_at":)" +
        at(10) + R"(,"last_at":)" + at(-10) + R"(,"runs":12,"kept":34})";
    CHECK(bus.get("/v1/recurring/report") == shown);
    CHECK(bus.get("/v1/recurring") == "[" + shown + "]");
    const auto explained = bus.get("/v1/recurring/report/explanation");
    CHECK(explained.starts_with(R"({"text":"its next tick is in )"));
    CHECK(explained.ends_with(R"(,"schedulers":)" + shown_workers(10) + R"(,"workers":)" +
                              shown_workers(20) + R"(,"recurring":)" + shown + "}"));
    job.settings.queue.clear();
    job.settings.job.clear();
    job.settings.timer = rm::RecurringTimer{.space = "calls", .payload = rm::encode(7)};
    CHECK(bus.get("/v1/recurring/report/explanation")
              .find(R"("schedulers":)" + shown_workers(10) + R"(,"workers":null,)") !=
          std::string::npos);
}

TEST_CASE("http api: a recurring action has the zone, missed ticks and overlap of its request") {
    Scenario bus;
    const auto put = [&](const std::string& more) {
        const auto body = R"({"schedule":"30 2 * * *","action":{"push":{"queue":"a","name":"b"}},)";
        return bus.ask(request("PUT", "/v1/recurring/x", root, body + more + "}")).status;
    };
    CHECK(put(R"("time_zone":"Europe/Berlin","catch_up":"skip")") == 204);
    const auto settings = [&] {
        return done(bus.store, rm::FindRecurringJob{"x"}).value().settings;
    };
    CHECK(settings().time_zone == "Europe/Berlin");
    CHECK(settings().catch_up == rm::CatchUp::skip);
    CHECK_FALSE(settings().overlap);
    CHECK(put(R"("catch_up":"all","overlap":true)") == 204);
    CHECK(settings().time_zone == "UTC");
    CHECK(settings().catch_up == rm::CatchUp::all);
    CHECK(settings().overlap);
}

TEST_CASE("http api: each field of a batch of jobs has its own value") {
    FixedScenario bus;
    const rm::JobBatch batch{
        .id = 7,
        .settings = {.name = "import",
                     .on_success = rm::JobBatchCallback{.queue = "mail",
                                                        .job = rm::encode_job({"done", {1}}),
                                                        .attempts_max = 2,
                                                        .priority = 3,
                                                        .timeout = rm::Duration{4},
                                                        .metadata = {{"a", "b"}}},
                     .on_end = rm::JobBatchCallback{.queue = "images",
                                                    .job = rm::encode_job({"clean", {5}}),
                                                    .attempts_max = 6,
                                                    .priority = 7,
                                                    .timeout = rm::Duration{8},
                                                    .metadata = {{"c", "d"}}}},
        .progress = {.total = 100,
                     .succeeded = 1,
                     .buried = 2,
                     .cancelled = 3,
                     .expired = 4,
                     .forgotten = 5},
        .created_at = after_noon(1),
        .closed_at = after_noon(2),
        .ended_at = after_noon(3),
        .succeeded_at = after_noon(4),
        .end_job = 9,
        .success_job = 8};
    bus.store.always<rm::FindJobBatch>(batch);
    bus.store.always<rm::ListJobBatches>({.batches = {batch}, .next = 7});
    const auto shown =
        R"({"id":7,"name":"import","total":100,"pending":85,"succeeded":1,"buried":2,)"
        R"("cancelled":3,"expired":4,"forgotten":5,"created_at":)" +
        at(1) + R"(,"closed_at":)" + at(2) + R"(,"ended_at":)" + at(3) + R"(,"succeeded_at":)" +
        at(4) +
        R"(,"on_success":{"queue":"mail","name":"done","arguments":[1],"attempts_max":2,)"
        R"("priority":3,"timeout":4,"metadata":{"a":"b"},"id":8},)"
        R"("on_end":{"queue":"images","name":"clean","arguments":[5],"attempts_max":6,)"
        R"("priority":7,"timeout":8,"metadata":{"c":"d"},"id":9}})";
    CHECK(bus.get("/v1/job-batches/7") == shown);
    CHECK(bus.get("/v1/job-batches") == "[" + shown + "]");
    for (const std::string state : {"running", "ended"}) {
        CHECK(header(bus.ask("GET", "/v1/job-batches?state=" + state), "Link") ==
              "</v1/job-batches?state=" + state + R"(&after=7&limit=100>; rel="next")");
    }
}

TEST_CASE("http api: each field of a queued batch, and of its explanation, has its own value") {
    FixedScenario bus;
    const rm::QueuedBatch batch{.status = {.uid = second_uid,
                                           .subscriber = billing,
                                           .created_at = after_noon(-1),
                                           .attempts = 5,
                                           .events = 3,
                                           .current = true},
                                .delivery = rm::JobStatus::State::pending,
                                .run_at = after_noon(9),
                                .error = "HTTP 500"};
    auto first = batch;
    first.status.uid = first_uid;
    bus.store.always<rm::FindBatch>(batch);
    bus.store.on<rm::ListBatches>([&](const rm::ListBatches& step) {
        return step.limit == 1 ? std::vector{first} : std::vector{batch};
    });
    bus.store.always<rm::FindQueueWorkers>(workers_from(10));
    const auto shown = R"({"uid":")" + second_id + R"(","created_at":)" + at(-1) +
                       R"(,"attempts":5,"event_count":3,"current":true,"state":"pending",)" +
                       R"("run_at":)" + at(9) + R"(,"error":"HTTP 500"})";
    const auto path = std::string{"/v1/subscribers/"} + billing + "/batches";
    CHECK(bus.get(path) == "[" + shown + "]");
    CHECK(bus.get(path + "/" + second_id) == shown);
    const auto explained = bus.get(path + "/" + second_id + "/explanation");
    CAPTURE(explained);
    CHECK(explained.ends_with(R"(,"before":")" + first_id + R"(","workers":)" + shown_workers(10) +
                              R"(,"batch":)" + shown + "}"));
}

TEST_CASE(
    "http api: each field of a DEAD batch, and each count of DEAD batches, has its own value") {
    FixedScenario bus;
    const rm::DeadBatchStatus status{.uid = first_uid,
                                     .subscriber = billing,
                                     .created_at = after_noon(-2),
                                     .died_at = after_noon(-1),
                                     .attempts = 5,
                                     .events = 3,
                                     .error = "HTTP 410"};
    rm::DeadMessages messages{.status = status};
    messages.messages.append("garbage");
    messages.messages.append("garbage too");
    bus.store.always<rm::ListDeadBatches>({status});
    bus.store.always<rm::FindDeadBatch>(messages);
    int drops = 0;
    bus.store.on<rm::DropDeadBatches>([&](const auto&) {
        return ++drops == 1 ? rm::Dropped{2, 7} : rm::Dropped{};
    });
    rm::SubscriberStatus subscriber{};
    subscriber.subscription.token = billing;
    subscriber.events_queued = 9;
    subscriber.batches_queued = 8;
    subscriber.batches_dead = 4;
    bus.store.always<rm::ListSubscribers>({subscriber});
    const auto shown = R"({"uid":")" + first_id + R"(","created_at":)" + at(-2) + R"(,"died_at":)" +
                       at(-1) + R"(,"attempts":5,"event_count":3,"error":"HTTP 410")";
    const auto path = std::string{"/subscribers/"} + billing + "/dead";
    CHECK(bus.get(path) == "[" + shown + "}]");
    CHECK(bus.get(path + "/" + first_id) == shown + R"(,"events":[],"undecodable":2})");
    CHECK(bus.ask("DELETE", path).body == R"({"batches":2,"events":7})");
    const auto subscribers = bus.get("/subscribers");
    CHECK(subscribers.find(R"("events":{"sent":null,"queued":9,"oldest":null})") !=
          std::string::npos);
    CHECK(subscribers.ends_with(R"("dead":4}])"));
}

TEST_CASE("http api: each field of a job, and of its explanation, has its own value") {
    FixedScenario bus;
    const rm::JobStatus job{.id = 7,
                            .state = rm::JobStatus::State::pending,
                            .job = rm::encode_job({"a b", {42}}),
                            .options = {.attempts_max = 4, .group = "g&h", .concurrency = 2},
                            .attempts = 3,
                            .errors = {{.attempt = 2, .at = after_noon(-9), .text = "no"}},
                            .worker = first_uid,
                            .cancelled = true,
                            .buried_at = after_noon(-3),
                            .after = {5, 6}};
    const rm::JobExplanation explanation{.status = job,
                                         .before = {1, 2},
                                         .buried = {3, 4},
                                         .queue_limited_until = after_noon(20),
                                         .group_limited_until = after_noon(30),
                                         .leased_at = after_noon(-20),
                                         .heard_at = after_noon(-10),
                                         .workers = workers_from(10),
                                         .now = noon};
    bus.store.always<rm::ExplainJob>(explanation);
    bus.store.always<rm::ListJobs>({.jobs = {job}, .next = 7});
    const auto shown =
        R"({"id":7,"state":"pending","name":"a b","arguments":[42],"attempts":3,)"
        R"("attempts_max":4,"priority":0,"timeout":0,"run_at":null,"after":[5,6],)"
        R"("expires_at":null,"buried_at":)" +
        at(-3) + R"(,"key":null,"group":"g&h","concurrency":2,"batch":null,"worker":")" + first_id +
        R"(","cancelled":true,"metadata":{},"errors":[{"attempt":2,"at":)" + at(-9) +
        R"(,"text":"no"}]})";
    const std::string path = "/v1/queues/images/jobs";
    CHECK(bus.get(path + "?state=pending") == "[" + shown + "]");
    const auto explained = bus.get(path + "/7/explanation");
    CAPTURE(explained);
    CHECK(explained.ends_with(R"(,"before":[1,2],"buried":[3,4],"leased_at":)" + at(-20) +
                              R"(,"heard_at":)" + at(-10) + R"(,"limited_until":)" + at(30) +
                              R"(,"workers":)" + shown_workers(10) + R"(,"job":)" + shown + "}"));
    for (const std::string state : {"scheduled", "ready", "pending", "buried"}) {
        const auto query = "?state=" + state + "&name=a%20b&group=g%26h";
        CHECK(header(bus.ask("GET", path + query + "&limit=5"), "Link") ==
              "<" + path + query + "&after=7&limit=5>; rel=\"next\"");
    }
}

TEST_CASE("http api: each field of a queue, and of its throughput, has its own value") {
    FixedScenario bus;
    const rm::ListedQueue queue{
        .name = "images",
        .status = {.scheduled = 1, .ready = 2, .pending = 3, .buried = 4, .paused = true},
        .due_since = after_noon(-5),
        .limits = {.queue = rm::RateLimit{.jobs = 6, .per = rm::Duration{7}, .burst = 8},
                   .each_group = rm::RateLimit{.jobs = 9, .per = rm::Duration{10}, .burst = 11}},
        .workers = 12,
        .unprofiled = 13,
        .worker_at = after_noon(-14)};
    bus.store.always<rm::ListQueues>({queue});
    bus.store.always<rm::MeasureThroughput>(
        {.minutes = {{.from = after_noon(-1),
                      .counts = {.done = 1, .failed = 2, .buried = 3, .expired = 4}}},
         .hours = {{.from = after_noon(-2),
                    .counts = {.done = 5, .failed = 6, .buried = 7, .expired = 8}}}});
    CHECK(bus.get("/v1/queues") ==
          R"([{"queue":"images","scheduled":1,"ready":2,"pending":3,"buried":4,"paused":true,)"
          R"("due_since":)" +
              at(-5) + R"(,"workers":12,"unprofiled":13,"worker_at":)" + at(-14) +
              R"(,"rate_limits":{"queue":{"jobs":6,"per":7,"burst":8},)"
              R"("each_group":{"jobs":9,"per":10,"burst":11}}}])");
    CHECK(bus.get("/v1/queues/images/throughput") ==
          R"({"minutes":[{"from":)" + at(-1) +
              R"(,"done":1,"failed":2,"buried":3,"expired":4}],"hours":[{"from":)" + at(-2) +
              R"(,"done":5,"failed":6,"buried":7,"expired":8}]})");
}

TEST_CASE("http api: each field of a worker, of its profile and of its leases has its own value") {
    FixedScenario bus;
    const rm::ListedWorker worker{
        .id = first_uid,
        .seen = after_noon(-1),
        .leased = 30,
        .jobs = {{.queue = "main", .job = "garbage", .attempt = 4},
                 {.queue = "images",
                  .id = 7,
                  .job = rm::encode_job({"crop", {}}),
                  .attempt = 3,
                  .since = after_noon(-2),
                  .cancelled = true}},
        .profile = rm::WorkerProfile{.name = "thumbs",
                                     .host = "thumbs-1",
                                     .process = 4711,
                                     .since = after_noon(-3),
                                     .queues = {"images", "mail"},
                                     .handlers = {"crop"},
                                     .handlers_total = 200,
                                     .others = rm::WorkerProfile::Others::unknown,
                                     .capacity = 8},
        .busy = 5};
    bus.store.always<rm::ListWorkers>({worker});
    CHECK(bus.get("/v1/workers") ==
          R"([{"worker":")" + first_id + R"(","seen_at":)" + at(-1) +
              R"(,"profile":{"name":"thumbs","host":"thumbs-1","process":4711,"since":)" + at(-3) +
              R"(,"queues":["images","mail"],"handlers":["crop"],"handlers_total":200,)"
              R"("others":"unknown","capacity":8,"busy":5},"leased":30,"jobs":[)"
              R"({"queue":"main","id":null,"name":null,"attempt":4,"since":null,)"
              R"("cancelled":false},{"queue":"images","id":7,"name":"crop","attempt":3,)"
              R"("since":)" +
              at(-2) + R"(,"cancelled":true}]}])");
}

TEST_CASE("http api: each field of a timer, and each count of its namespace, has its own value") {
    FixedScenario bus;
    const rm::TimerStatus timer{.id = "a/b",
                                .payload = rm::Value{42},
                                .state = rm::TimerState::dead,
                                .at = after_noon(-1),
                                .retries = 2,
                                .retries_max = 3,
                                .reason = "no"};
    bus.store.always<rm::FindTimer>(timer);
    bus.store.always<rm::ListTimers>({timer, timer});
    bus.store.always<rm::CountTimers>(
        {.pending = 4, .fired = 5, .dead = 6, .listeners = 7, .next_due = after_noon(8)});
    const auto shown = R"({"id":"a/b","state":"dead","at":)" + at(-1) +
                       R"(,"retries":2,"retries_max":3,"reason":"no","payload":42})";
    const auto counts =
        R"({"pending":4,"fired":5,"dead":6,"listeners":7,"next_due":)" + at(8) + "}";
    CHECK(bus.get("/v1/timers/calls/a/b") == shown);
    CHECK(bus.get("/v1/timers/calls") == "[" + shown + "," + shown + "]");
    CHECK(bus.get("/v1/timer_counts/calls") == counts);
    const auto explained = bus.get("/v1/timer_explanations/calls/a/b");
    CHECK(explained.ends_with(R"(,"counts":)" + counts + R"(,"timer":)" + shown + "}"));
    for (const std::string state : {"pending", "fired", "dead"}) {
        CHECK(header(bus.ask("GET", "/v1/timers/calls?limit=1&state=" + state), "Link") ==
              "</v1/timers/calls?state=" + state + "&from=" + at(-1) +
                  "&after=a%2Fb&limit=1>; rel=\"next\"");
    }
}

TEST_CASE("http api: a timer is confirmed, completed and postponed with all fields of a request") {
    FixedScenario bus;
    std::vector<std::string> steps;
    const auto note = [&](const std::string& id, std::optional<std::uint32_t> retries,
                          std::optional<std::int64_t> firing) {
        steps.push_back(id + " " + std::to_string(retries.value_or(99)) + " " +
                        std::to_string(firing.value_or(99)));
    };
    bus.store.on<rm::ConfirmTimer>([&](const rm::ConfirmTimer& step) {
        note(step.id, step.retries, step.firing);
        return rm::TimerConfirmed::confirmed;
    });
    bus.store.on<rm::CompleteTimer>([&](const rm::CompleteTimer& step) {
        note(step.id, step.retries, step.firing);
        return rm::CompletedTimer{.pushed = {{.id = 1}}};
    });
    bus.store.on<rm::PostponeTimer>([&](const rm::PostponeTimer& step) {
        steps.push_back(step.id + " " + std::to_string(rm::to_milliseconds(step.due_at)));
        return rm::Count{1};
    });
    const auto post = [&](const std::string& verb, const std::string& body) {
        return bus.ask("POST", "/v1/timers/calls/" + verb, "{" + body + "}").status;
    };
    CHECK(post("confirm", R"("id":"a")") == 204);
    CHECK(post("confirm", R"("id":"b","retries":2,"firing":3)") == 204);
    CHECK(post("confirm", R"("id":"c","retries":4,"firing":5,)"
                          R"("pushes":[{"queue":"mail","name":"x"}])") == 204);
    CHECK(post("postpone", R"("id":"d","at":)" + at(6)) == 204);
    CHECK(post("postpone", R"("id":"e","delay":7)") == 204);
    CHECK(steps ==
          std::vector<std::string>{"a 99 99", "b 2 3", "c 4 5", "d " + at(6), "e " + at(7)});
}

TEST_CASE("http api: a disconnected client leases no job, and takes no timer") {
    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::JobLeases leases{store, {.seed = 1}};
    rm::TimerRequests timers{store};
    rm::HttpApi api{store,
                    {.root_key = root, .clock = &clock, .leases = &leases, .timers = &timers}};
    rm::test::HandRunner leasing{leases};
    rm::test::HandRunner taking{timers};
    rm::JobQueue images{store, "images", clock};
    rm::Delayer calls{store, "calls", clock};
    int answers = 0;
    const auto send_and_run = [&](const char* path, bool gone) {
        auto sent = request("POST", path, root, R"({"wait":30000})");
        sent.client_gone = std::make_shared<const std::atomic<bool>>(gone);
        api.handle(std::move(sent), [&](const rm::HttpResponse&) { ++answers; });
        for (int i = 0; i < 3; ++i) {
            leasing.run(clock.now());
            taking.run(clock.now());
            clock.advance(rm::Duration{1});
        }
    };
    CHECK(images.push({"resize"}));
    CHECK(calls.post(rm::Value{1}, rm::Duration{0}, {.id = "a", .retries_max = 1}));
    for (const bool gone : {true, false}) {
        send_and_run("/v1/queues/images/lease", gone);
        send_and_run("/v1/timers/calls/take", gone);
        CHECK(images.status().value().pending == (gone ? 0 : 1));
        CHECK(calls.counts().value().fired == (gone ? 0 : 1));
    }
    CHECK(answers >= 2);
}
