// The end of each key in docs/redis-keys.md. When all data of a bus is removed, only keys for the
// progress of a count are left.

#include <doctest/doctest.h>
#include <fnmatch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "support/random_steps.hpp"

using namespace routemaster;
using test::RandomSteps;
using test::RedisScene;

namespace {

constexpr Duration minute{60'000};
constexpr Duration hour = 60 * minute;
constexpr Duration day = 24 * hour;

/// How a key ends.
struct KeyLife {
    enum class End : std::uint8_t {
        removed,  ///< Removed together with the entity that it describes.
        expires,  ///< Expires by itself, or is removed earlier.
        stays,    ///< One key for the whole bus. Its size is bounded, or it has one entry per name.
    };
    std::string_view pattern;  ///< As in the document.
    End end = End::removed;
    /// The longest time until the server expires the key; 0 for keys that only steps remove.
    Duration kept_max{0};
};

constexpr auto removed = KeyLife::End::removed;
constexpr auto expires = KeyLife::End::expires;
constexpr auto stays = KeyLife::End::stays;

const std::vector<KeyLife> key_lives{
    {"api_tokens:by_token", removed},
    {"topics", removed},
    {"topic:{name}", removed},
    {"subscribers", removed},
    {"subscriber:{token}", removed},
    {"topics:{token}", removed},
    {"subscribers:{topic}", removed},
    {"batches:{uid}", removed},
    {"batches:current:{token}", removed},
    {"batches:index", removed},
    {"batches:gauges:batch", stays},  // As Ruby Routemaster leaves them; all are 0.
    {"batches:gauges:event", stays},
    {"jobs:index:{q}", removed},
    {"jobs:scheduled:{q}", removed},
    {"jobs:instant:{q}", removed},
    {"jobs:pending:{q}:{worker}", removed},
    {"jobs:pending:index:{q}", removed},
    {"workers", removed},
    {"counters", stays},
    {"routemaster:batch_error:{uid}", removed, day},
    {"routemaster:dead_batch:{uid}", removed},
    {"routemaster:dead:{token}", removed},
    {"routemaster:dead", removed},
    {"routemaster:claims", removed},
    {"routemaster:group:{token}", removed},
    {"routemaster:blocked:{q}", removed},
    {"routemaster:callback:{name}", removed},
    {"routemaster:callbacks", removed},
    {"routemaster:unreadable:{uid}", removed},
    {"routemaster:unreadable", removed},
    {"routemaster:aux", removed},
    {"routemaster:ungrouped", removed, day},
    {"jobs:scheduled:main:callbacks", removed},
    {"jobs:pending:main:callbacks:{worker}", removed},
    {"routemaster:untidy", removed},
    {"routemaster:turns:{token}", removed, day},
    {"routemaster:leases:{worker}", removed, day},
    {"routemaster:isolated:{process}", expires, 2 * day},
    {"routemaster:fence", stays},
    {"routemaster:queues", stays},  // Only Ruby Routemaster's queues.
    {"routemaster:due:{q}", removed},
    {"routemaster:job_id", stays},
    {"routemaster:ids:{q}", removed},
    {"routemaster:job:{q}", removed},
    {"routemaster:ranks:{q}", removed},
    {"routemaster:order:{q}:{group}", removed},
    {"routemaster:held:{q}", removed},
    {"routemaster:dependents:{q}", removed},
    {"routemaster:keyed:{q}", removed},
    {"routemaster:keys:{q}", removed},
    {"routemaster:pushed:{q}:{key}", expires, minute},  // The time that the pushes of this test ask
                                                        // for.
    {"routemaster:idempotency_keys", stays},            // At most 100,000.
    {"routemaster:kept_keys", stays},                   // At most 100,000.
    {"routemaster:paused", removed},
    {"routemaster:limits", stays},  // Only the last revision.
    {"routemaster:bucket:{q}", expires, 11 * minute},
    {"routemaster:bucket:{q}:{group}", expires, 11 * minute},
    {"routemaster:throttled:{q}", removed},
    {"routemaster:throttled_since:{q}", removed},
    {"routemaster:opens:{q}", removed},
    {"routemaster:recurring", removed},
    {"routemaster:recurring:due", removed},
    {"routemaster:job_batch:{id}", removed},
    {"routemaster:job_batches", removed},
    {"routemaster:job_batches:ended", removed},
    {"routemaster:job_batches:ends", removed},
    {"routemaster:job_batch_names", removed},
    {"routemaster:job_batch_id", stays},
    {"routemaster:throughput:{q}", expires, 25 * hour},
    {"routemaster:buried:{q}", removed},
    {"routemaster:burials:{q}", removed},
    {"routemaster:deleted:{q}", removed},
    {"routemaster:index:{key}", stays},  // Removed with the indexed key.
    {"routemaster:worker:{worker}", removed, 3 * day},
    {"routemaster:serving:{q}", expires, 7 * day},
    {"routemaster:scrubbed", stays},  // Only the time of the last scrub.
    {"routemaster:waiting:{q}", expires, 2 * day},
    {"routemaster:waiting:main:callbacks", expires, 2 * day},
    {"{namespace}:gl", removed},
    {"{namespace}:ch", removed},
    {"{namespace}:ei", removed},
    {"{namespace}:ed", removed},
    {"{namespace}:et", removed},
    {"{namespace}:routemaster:dead", removed},
    {"{namespace}:routemaster:dead_events", removed},
    {"{namespace}:routemaster:confirm", removed},
    {"{namespace}:routemaster:listeners", removed},
    {"{namespace}:routemaster:turn", removed},
};

/// A glob that matches any text in place of the names in braces.
std::string glob_of(std::string_view pattern) {
    std::string glob;
    bool inside = false;
    for (const char c : pattern) {
        if (c == '{') glob += '*';
        inside = c == '{' || (inside && c != '}');
        if (!inside && c != '}') glob += c;
    }
    return glob;
}

/// The most specific row for a key.
const KeyLife* life_of(const std::string& key) {
    const KeyLife* best = nullptr;
    std::size_t longest = 0;
    for (const auto& life : key_lives) {
        const auto glob = glob_of(life.pattern);
        if (glob.size() <= longest || ::fnmatch(glob.c_str(), key.c_str(), 0) != 0) continue;
        best = &life;
        longest = glob.size();
    }
    return best;
}

/// The keys in the first column of the tables of docs/redis-keys.md.
std::set<std::string> documented_keys() {
    std::ifstream file{ROUTEMASTER_SOURCE_DIR "/docs/redis-keys.md"};
    REQUIRE(file);
    std::set<std::string> keys;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("| `")) continue;
        const auto cell = line.substr(2, line.find(" |", 2) - 2);
        if (cell.find(" field") != std::string::npos || line.starts_with("| `Subscribe`")) continue;
        for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
            const auto end = cell.find('`', at + 1);
            const auto name = cell.substr(at + 1, end - at - 1);
            // Skips steps, errors and methods in further tables.
            if (name.find(':') != std::string::npos || name == "topics" || name == "subscribers" ||
                name == "workers" || name == "counters") {
                keys.insert(name);
            }
            at = end + 1;
        }
    }
    return keys;
}

/// A bus whose keys are checked after each step.
struct WatchedBus : RedisScene {
    /// The rows with a key so far.
    std::set<std::string_view> seen;
    /// Errors found so far.
    std::set<std::string> wrong;
    RandomSteps random{1, 2};
    std::array<Uid, 2> workers = RandomSteps::workers();
    RedisStore mixed{{.addresses = {server.address()}, .mixed_fleet = true}};

    /// The existing keys and their remaining times; -1 for no expiry.
    [[nodiscard]] std::map<std::string, std::int64_t> times() const {
        static constexpr const char* script = R"(
            local all = {}
            for _, key in ipairs(redis.call('KEYS', '*')) do
                all[#all + 1] = {key, redis.call('PTTL', key)}
            end
            return all)";
        std::map<std::string, std::int64_t> found;
        for (const auto& one : server.command({"EVAL", script, "0"}).list) {
            found.emplace(one.list.at(0).text, one.list.at(1).number);
        }
        return found;
    }

    /// Checks that each key has a row, and does not exceed the row's time.
    void look() {
        for (const auto& [key, time] : times()) {
            const auto* const life = life_of(key);
            if (life == nullptr) {
                wrong.insert(key + " is in no row");
                continue;
            }
            seen.insert(life->pattern);
            const auto most = life->kept_max.count();
            const bool is_right = most > 0 ? time > 0 && time <= most : time == -1;
            if (!is_right) wrong.insert(std::string{life->pattern} + " expires at no such time");
        }
    }

    template <class S>
    typename S::Reply watched(S step) {
        auto reply = perform(std::move(step));
        look();
        return reply;
    }
    template <class S>
    typename S::Reply watched_mixed(S step) {
        auto reply = routemaster::perform(mixed, std::move(step), now).value();
        look();
        return reply;
    }

    void perform_random(std::size_t steps) {
        // A listener without a watch would count as gone.
        const auto watch = store.watch(timer_watch("reminders", "ear"), [] {});
        for (const auto& worker_uid : workers) perform(Heartbeat{worker_uid});
        for (std::size_t i = 0; i < steps; ++i) {
            now += random.pause() + Duration{1};
            Step step = random.next(now);
            std::promise<Outcome> answer;
            store.submit({&step, 1}, now, [&](std::span<Outcome> outcomes) {
                answer.set_value(std::move(outcomes.front()));
            });
            note(answer.get_future().get());
            if (i % 20 == 0) look();
        }
    }

    void note(const Outcome& outcome) {
        if (!outcome) return;
        if (const auto* got = std::get_if<Acquired>(&*outcome)) random.got(got->leases);
        if (const auto* got = std::get_if<std::vector<DeadBatchStatus>>(&*outcome)) {
            random.got(*got);
        }
        if (const auto* got = std::get_if<std::vector<QueuedBatch>>(&*outcome)) random.got(*got);
        if (const auto* got = std::get_if<DueRecurring>(&*outcome)) random.got(*got);
        if (const auto* got = std::get_if<JobBatchCreated>(&*outcome)) random.got(*got);
    }

    [[nodiscard]] std::uint64_t number_in(const std::string& key) const {
        const auto text = server.command({"GET", key}).text;
        return text.empty() ? 0 : std::stoull(text);
    }

    /// Acquires and ends all due deliveries.
    void deliver_all() {
        for (int round = 0; round < 1'000; ++round) {
            const auto leases = watched(AcquireJobs{.queue = "main",
                                                    .worker = worker,
                                                    .limit = 1'000,
                                                    .destinations = RandomSteps::everywhere()})
                                    .leases;
            if (leases.empty()) return;
            for (const auto& lease : leases) {
                if (begin(lease).verdict == Verdict::deliver) settle(lease);
            }
        }
        FAIL("deliveries without end");
    }

    void do_all(const std::string& queue) {
        for (int round = 0; round < 1'000; ++round) {
            const auto leases =
                watched(AcquireJobs{.queue = queue, .worker = worker, .limit = 1'000}).leases;
            if (leases.empty()) return;
            for (const auto& lease : leases) perform(AckJob{lease});
        }
        FAIL("jobs without end");
    }

    /// Pushes a job of each kind with an idempotency key.
    void push_once() {
        for (const Duration time : {minute, Duration{0}}) {
            PushJob step{"work", "once", now};
            step.idempotency_key = {.text = "key", .fingerprint = 1, .time = time};
            step.options.key.text = "unique " + std::to_string(time.count());
            watched(step);
        }
    }

    /// Makes a queue and a group with a job that waits for a token.
    void wait_for_tokens() {
        watched(PauseQueue{"work", false});
        const RateLimit of_queue{.jobs = 100, .per = minute};
        const RateLimit of_group{.jobs = 1, .per = minute};
        watched(LimitQueue{"work", {.queue = of_queue, .each_group = of_group}});
        for (const char* job : {"first", "second", "third"}) {
            PushJob step{"work", job, now};
            step.options.group = "tokens";
            step.options.concurrency = 3;
            watched(step);
        }
        for (int i = 0; i < 3; ++i) {
            watched(AcquireJobs{.queue = "work", .worker = workers[0], .limit = 100});
            now += minute;
        }
        watched(AcquireJobs{.queue = "work", .worker = workers[0], .limit = 100});
    }

    void end_batch() {
        const auto settings = std::make_shared<const JobBatchSettings>(JobBatchSettings{"empty"});
        watched(CloseJobBatch{watched(CreateJobBatch{settings}).id});
    }

    void describe_worker() {
        WorkerProfile profile{.queues = {"work"}};
        watched(Heartbeat{.worker = workers[0],
                          .profile = std::make_shared<const WorkerProfile>(std::move(profile))});
    }

    void put_recurring() {
        const RecurringSettings settings{.schedule = "@hourly", .queue = "work", .job = "tick"};
        watched(PutRecurringJob{"hourly", std::make_shared<const RecurringSettings>(settings),
                                Uid{1, 1}});
    }

    /// Adds more names of each kind than are listed without an index.
    void list_many() {
        constexpr std::uint64_t many = 101;
        const auto settings = std::make_shared<const RecurringSettings>(
            RecurringSettings{.schedule = "@hourly", .queue = "work", .job = "tick"});
        const auto name_at = [](std::uint64_t i) { return "name-" + std::to_string(i); };
        const auto worker_at = [](std::uint64_t i) { return Uid{3ULL << 60U, i << 32U}; };
        std::vector<JobId> ids;
        for (std::uint64_t i = 0; i < many; ++i) {
            const auto name = name_at(i);
            perform(PutToken{name, "many"});
            perform(Subscribe{.token = name,
                              .topics = {name},
                              .options = {.callback = "https://many.example", .uuid = "x"}});
            perform(PutRecurringJob{name, settings, Uid{1, i}});
            perform(Heartbeat{worker_at(i)});
            ids.push_back(perform(PushJob{name, "job", now}).id);
        }
        const Page page{.after = {}, .limit = many};
        watched(ListTokens{page});
        watched(ListSubscribers{page});
        watched(ListTopics{page});
        watched(ListRecurringJobs{page});
        watched(ListQueues{page});
        watched(ListWorkers{});
        for (const std::string key : {"topics", "subscribers", "api_tokens:by_token", "workers",
                                      "routemaster:queues", "routemaster:recurring"}) {
            CAPTURE(key);
            CHECK(other({"EXISTS", "routemaster:index:" + key}).number == 1);
        }
        for (std::uint64_t i = 0; i < many; ++i) {
            const auto name = name_at(i);
            perform(RemoveToken{name});
            perform(RemoveTopic{name, {}});
            perform(RemoveRecurringJob{name});
            perform(RetireWorker{worker_at(i)});
            perform(DeleteJob{name, ids[i]});
        }
        look();
    }

    /// Makes an unreadable batch (for Ruby workers) in each state.
    void publish_unreadable() {
        Event event{.topic = "claimed", .type = EventType::create, .url = "https://a.example"};
        event.data = Value{std::string(100, 'x')};
        watched(Subscribe{
            .token = "reader",
            .topics = {"claimed"},
            .options = {.callback = "https://reader.example", .max_events = 1, .attempts_max = 1}});
        watched(PublishEvent{.topic = "claimed",
                             .publisher = "pub--secret",
                             .message = encode_message(event, now),
                             .timestamp = now,
                             .uid = Uid{7, 7}});
        const auto leases =
            watched(AcquireJobs{.queue = "main", .worker = worker, .limit = 1'000}).leases;
        for (const auto& lease : leases) {
            begin(lease);
            settle(lease, false);
        }
        look();
        watched(DropDeadBatches{"reader"});
        // The subscriber is gone, so an attempt ends the batch.
        watched(PublishEvent{.topic = "claimed",
                             .publisher = "pub--secret",
                             .message = encode_message(event, now),
                             .timestamp = now,
                             .uid = Uid{8, 8}});
        watched(RemoveSubscriber{"reader"});
        watched(RemoveTopic{"claimed", {}});
    }

    /// Switches to a mixed deployment: jobs unknown to Ruby workers wait while Ruby workers exist,
    /// and leftovers of other programs are checked step by step.
    void mix_fleets() {
        watched(PushJob{"aux", "unknown", now});
        watched(Subscribe{.token = "billing",
                          .topics = {"cats"},
                          .options = {.callback = "https://billing.example", .max_events = 1}});
        publish("BATCHBATCHBATCHBZZZZ");
        deliver_in_turn();
        const auto names = [this](const char* command) {
            other({"EVAL",
                   "for i = 1, 3000 do redis.call(ARGV[1], KEYS[1], 'other-' .. i) end return 1",
                   "1", "subscribers", command});
        };
        names("SADD");
        watched_mixed(ScrubWorkers{hour});
        names("SREM");
        for (int i = 0; i < 10; ++i) watched_mixed(ScrubWorkers{hour});
        watched(ScrubWorkers{hour});
        do_all("aux");
    }

    void deliver_in_turn() {
        for (int i = 0; i < 100; ++i) {
            const auto leases =
                watched_mixed(AcquireJobs{.queue = "main", .worker = worker, .limit = 10}).leases;
            if (leases.empty()) return;
            for (const auto& lease : leases) {
                watched_mixed(BeginDelivery{lease, Duration{60'000}, 0});
                watched_mixed(SettleDelivery{
                    .lease = lease, .delivered = true, .health_change = 1, .begun_at = now});
            }
        }
    }

    /// Removes a subscriber whose first 3,000 batches another program has ended.
    void leave_untidy() {
        watched(Subscribe{.token = "untidy",
                          .topics = {"cats"},
                          .options = {.callback = "https://untidy.example"}});
        other({"EVAL", "for i = 1, 3000 do redis.call('ZADD', KEYS[1], i, 'gone-' .. i) end", "1",
               "routemaster:group:untidy"});
        watched(RemoveSubscriber{"untidy"});
    }

    /// Makes a job that kills two workers.
    void isolate() {
        const auto id = perform(PushJob{"fatal", "job", now}).id;
        for (int deaths = 0; deaths < 3; ++deaths) {
            now += hour;
            watched(AcquireJobs{.queue = "fatal", .worker = workers[0], .limit = 1});
            for (int i = 0; i < 4; ++i) {
                now += minute;
                watched(ScrubWorkers{3 * minute});
            }
        }
        watched(DeleteJob{"fatal", id});
        do_all("fatal");
    }

    void remove_all() {
        for (const auto& one : workers) watched(RetireWorker{one});
        for (const auto& token : RandomSteps::tokens) {
            watched(RemoveSubscriber{token});
            watched(RemoveToken{token});
        }
        for (const char* topic : {"cats", "dogs", "fish"}) watched(RemoveTopic{topic, {}});
        watched(PauseQueue{"work", false});
        for (const char* name : {"hourly", "daily"}) watched(RemoveRecurringJob{name});
        for (JobBatchId id = 1; id <= number_in("routemaster:job_batch_id"); ++id) {
            perform(RemoveJobBatch{id});
        }
        for (JobId id = 1; id <= number_in("routemaster:job_id"); ++id) {
            perform(DeleteJob{"work", id});
        }
        watched(LimitQueue{"work", {}});
        now += 2 * day;
        do_all("work");
        // Leftovers of other programs are checked in chunks.
        for (int i = 0; i < 4; ++i) deliver_all();
        for (int i = 0; i < 20; ++i) {
            watched(CancelTimer{"reminders", "timer " + std::to_string(i)});
        }
        for (const char* name : {"hourly", "daily"}) {
            watched(CancelTimer{"reminders", std::string{"recurring:"} + name});
        }
        watched(DropDeadTimers{"reminders"});
        watched(LeaveTimers{"reminders", "ear"});
        retire();
    }

    void retire() {
        for (const auto& one : workers) watched(RetireWorker{one});
        watched(RetireWorker{worker});
    }

    /// The keys left over by mistake.
    [[nodiscard]] std::string left_over() const {
        std::string all;
        for (const auto& [key, time] : times()) {
            const auto* const life = life_of(key);
            if (life == nullptr || life->end == removed) all += key + '\n';
        }
        return all;
    }
};

}  // namespace

TEST_CASE("redis: the test lists the lifetime of each documented Redis key") {
    std::set<std::string> listed;
    for (const auto& life : key_lives) listed.emplace(life.pattern);
    CHECK(listed.size() == key_lives.size());
    const auto documented = documented_keys();
    for (const auto& key : documented) {
        CAPTURE(key);
        CHECK(listed.contains(key));
    }
    for (const auto& key : listed) {
        CAPTURE(key);
        CHECK(documented.contains(key));
    }
}

TEST_CASE("redis: a bus whose content was removed leaves no Redis key") {
    WatchedBus s;
    s.perform_random(2'000);
    s.put_recurring();
    s.end_batch();
    s.describe_worker();
    s.push_once();
    s.list_many();
    s.publish_unreadable();
    s.mix_fleets();
    s.leave_untidy();
    s.isolate();
    s.wait_for_tokens();
    s.remove_all();
    CHECK(s.left_over() == "");
    CHECK(s.other({"SMEMBERS", "routemaster:queues"}).list.size() <= 2);
    CHECK(s.other({"ZCARD", "routemaster:index:routemaster:queues"}).number <= 2);
    for (const std::string key :
         {"topics", "subscribers", "api_tokens:by_token", "workers", "routemaster:recurring"}) {
        CAPTURE(key);
        CHECK(s.other({"EXISTS", "routemaster:index:" + key}).number == 0);
    }
    CHECK(s.other({"HKEYS", "routemaster:limits"}).list.size() == 1);
    CHECK(s.other({"HKEYS", "routemaster:scrubbed"}).list.size() == 1);
    for (const char* gauge : {"batches:gauges:batch", "batches:gauges:event"}) {
        for (const auto& value : s.other({"HVALS", gauge}).list) CHECK(value.text == "0");
    }
    CHECK(s.wrong == std::set<std::string>{});
    std::string missing;
    for (const auto& life : key_lives) {
        if (!s.seen.contains(life.pattern)) missing += std::string{life.pattern} + '\n';
    }
    CHECK(missing == "");
}

TEST_CASE("redis: each heartbeat extends the lifetime of the worker's Redis keys") {
    RedisScene s;
    s.perform(PushJob{"work", "job", s.now});
    s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 1});
    WorkerProfile profile{.queues = {"work"}};
    const Heartbeat beat{.worker = s.worker,
                         .profile = std::make_shared<const WorkerProfile>(std::move(profile))};
    s.perform(beat);
    const std::string id{s.worker.text()};
    const std::vector<std::pair<std::string, Duration>> kept{{"routemaster:leases:" + id, day},
                                                             {"routemaster:worker:" + id, 3 * day},
                                                             {"routemaster:serving:work", 7 * day}};
    for (const auto& [key, time] : kept) {
        const auto& name = key;  // A structured binding cannot be captured.
        CAPTURE(name);
        CHECK(s.other({"PEXPIRE", key, "60000"}).number == 1);
    }
    s.perform(beat);
    for (const auto& [key, time] : kept) {
        const auto& name = key;  // A structured binding cannot be captured.
        CAPTURE(name);
        CHECK(s.other({"PTTL", key}).number > (time - hour).count());
    }
}
