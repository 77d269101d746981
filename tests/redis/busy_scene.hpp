/// @file
/// `BusyScene`: a bus with data in nearly all keys. Tests corrupt one key at a time.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redis_scene.hpp"
#include "support/redis_client.hpp"

namespace routemaster::test {

/// Lua functions for the server. `exchange` replaces a key by a key of a different type; the second
/// computes a fingerprint of all keys, which shows changes.
inline constexpr const char* busy_tools = R"(
    local function exchange(key)
        local text = redis.call('TYPE', key).ok == 'string'
        redis.call('DEL', key)
        if text then redis.call('LPUSH', key, 'x') else redis.call('SET', key, 'x') end
    end
    local function fingerprint()
        local keys, all = redis.call('KEYS', '*'), {}
        table.sort(keys)
        for _, key in ipairs(keys) do
            local lasts = redis.call('TTL', key) < 0 and 'lasts' or 'expires'
            all[#all + 1] = key .. redis.call('DUMP', key) .. lasts
        end
        return redis.sha1hex(table.concat(all))
    end
)";

/// The settings of a recurring job, due each minute.
inline std::shared_ptr<const RecurringSettings> recurring_settings(const char* job) {
    return std::make_shared<const RecurringSettings>(
        RecurringSettings{.schedule = "@every 1m", .queue = "work", .job = job});
}

/// A bus with data in nearly all keys that a step may use. Database 1 keeps a copy of the keys.
struct BusyScene : RedisScene {
    explicit BusyScene(bool mixed_fleet = false) : RedisScene{mixed_fleet}, mixed{mixed_fleet} {
        prepare();
        script(R"(for _, key in ipairs(redis.call('KEYS', '*')) do
                      redis.call('COPY', key, key, 'DB', 1)
                  end)");
    }

    const bool mixed;
    Uid second_worker = *Uid::parse("WORKERWORKERWORKER99");
    std::vector<Lease> deliveries;  // The first delivery has begun.
    std::vector<Lease> called;      // Deliveries to a callback in a process.
    std::vector<Lease> work;
    std::vector<Lease> keyed;    // A lease of a job with a unique key; a second job with a key is
                                 // READY.
    JobId first = 0;             // The job of `work[0]`, which has dependents.
    JobId low = 0;               // A READY job of low priority, which has dependents.
    int waiting = 0;             // The number of these dependents.
    std::vector<Lease> grouped;  // A lease of a job in a group. A second job of the group waits.
    JobBatchId batch = 0;        // A closed batch.
    std::vector<Lease> batched;  // Leases of all its jobs except one. The first job has a key.
    TimePoint recurring_at{};    // The due time of the recurring job: when it was put.

    void prepare() {
        for (const char* token : {"audit", "billing"}) {
            perform(Subscribe{.token = token,
                              .topics = {"cats"},
                              .options = {.callback = "https://example.com/events",
                                          .timeout = Duration{0},
                                          .attempts_max = 1,
                                          .dead_max = 1}});
        }
        publish("BATCHBATCHBATCHBZZAA");
        for (const auto& lease : acquire_all()) {
            begin(lease);
            settle(lease, false);
        }
        for (const char* token : {"audit", "billing"}) {
            perform(Subscribe{.token = token,
                              .topics = {"cats", "dogs"},
                              .options = {.callback = "https://example.com/events",
                                          .timeout = Duration{500},
                                          .max_events = 2,
                                          .max_in_flight = 2,
                                          .attempts_max = 1'000}});
        }
        perform(PutToken{"billing", "shop"});
        perform(PutToken{"pub--secret", "pub"});
        for (const char* uid : {"A", "B", "C", "D", "E", "F", "G"}) {
            publish("BATCHBATCHBATCHB" + std::string{uid} + "AAA");
        }
        first = perform(PushJob{"work", "a", now}).id;
        for (const char* job : {"b", "c", "d"}) perform(PushJob{"work", job, now});
        perform(PushJob{"work", "later", now + Duration{60'000}});
        low = perform(PushJob{"work", "low", now, {.priority = -1}}).id;
        for (const auto& awaited : std::vector<std::vector<JobId>>{{first}, {low}, {first, low}}) {
            PushJob step{"work", "after " + std::to_string(++waiting), now};
            step.after = awaited;
            perform(step);
        }
        if (!mixed) perform(PushJob{"main", "now", now});
        deliveries = perform(AcquireJobs{.queue = "main", .worker = worker, .limit = 3}).leases;
        work = perform(AcquireJobs{.queue = "work", .worker = worker, .limit = 2}).leases;
        perform(AcquireJobs{.queue = "work", .worker = second_worker, .limit = 1});
        for (const char* key : {"1", "2"}) {
            PushJob step{"keyed", "a", now};
            step.options.key = {
                .text = key, .scope = KeyScope::for_time, .until = now + Duration{60'000}};
            perform(step);
        }
        keyed = perform(AcquireJobs{.queue = "keyed", .worker = worker, .limit = 1}).leases;
        for (const char* job : {"x", "y", "z"}) perform(push_grouped(job));
        grouped = perform(AcquireJobs{.queue = "grouped", .worker = worker, .limit = 1}).leases;
        batch = perform(create_batch("import")).id;
        for (const char* job : {"1", "2", "3"}) perform(push_batched(job));
        perform(CloseJobBatch{batch});
        batched = perform(AcquireJobs{.queue = "batched", .worker = worker, .limit = 2}).leases;
        perform(PauseQueue{"paused", true});
        recurring_at = now;
        perform(PutRecurringJob{"report", recurring_settings("tick"), Uid{1, 1}});
        begin(deliveries.at(0));
        perform(Subscribe{
            .token = "search",
            .topics = {"fish"},
            .options = {.callback = "local:search", .max_events = 1, .max_in_flight = 2}});
        for (const char* uid : {"H", "I", "J"}) {
            perform(
                PublishEvent{.topic = "fish",
                             .publisher = "pub--secret",
                             .message = message(),
                             .timestamp = now,
                             .uid = *Uid::parse("BATCHBATCHBATCHB" + std::string{uid} + "AAA")});
        }
        called =
            perform(
                AcquireJobs{
                    .queue = "main", .worker = worker, .limit = 1, .destinations = {{"search"}}})
                .leases;
        prepare_timers();
    }

    /// Makes timers of each state. Of the FIRED timers, one comes back at the next take, and one
    /// becomes DEAD.
    void prepare_timers() {
        const auto fire = [this](const char* id, std::uint32_t retries_max) {
            perform(post_timer(id, {}, retries_max));
            take_timers();
        };
        fire("dead", 1);
        other({"HSET", "dt:ed", "dead", R"({"id":"dead","maxRetries":0})"});
        now += Duration{100};
        take_timers();
        fire("dies", 1);
        other({"HSET", "dt:ed", "dies", R"({"id":"dies","maxRetries":0})"});
        fire("back", 2);
        now += Duration{100};
        perform(post_timer("due", {}, 0));
        perform(post_timer("later", Duration{60'000}, 1));
    }
    [[nodiscard]] PostTimer post_timer(const char* id, Duration delay,
                                       std::uint32_t retries_max) const {
        return {.space = "dt",
                .id = id,
                .payload = encode(Value{id}),
                .due_at = now + delay,
                .retries_max = retries_max,
                .confirm_within = Duration{retries_max > 0 ? 100 : 0}};
    }
    TakenTimers take_timers() { return perform(TakeTimers{.space = "dt", .listener = "ours"}); }

    [[nodiscard]] PushJob push_grouped(const char* job, Duration delay = {}) const {
        PushJob step{"grouped", job, now + delay};
        step.options.group = "g";
        return step;
    }

    static CreateJobBatch create_batch(const char* name) {
        const JobBatchCallback callback{.queue = "batched", .job = "callback"};
        return {std::make_shared<const JobBatchSettings>(
            JobBatchSettings{.name = name, .on_success = callback, .on_end = callback})};
    }

    /// A push into the batch. Job "1" has a key.
    [[nodiscard]] PushJob push_batched(const std::string& job) const {
        PushJob step{"batched", job, now};
        step.options.batch = batch;
        if (job == "1") step.options.key.text = "k";
        return step;
    }

    RedisReply script(const std::string& text, const std::string& key = {}) {
        return client_.command({"EVAL", busy_tools + text, "1", key});
    }

    /// Restores the prepared state.
    void reset() {
        script(R"(for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('DEL', key) end
                  redis.call('SELECT', 1)
                  for _, key in ipairs(redis.call('KEYS', '*')) do
                      redis.call('COPY', key, key, 'DB', 0)
                  end)");
    }

    /// Replaces a key by a key of a different type. Creates an absent key.
    void exchange(const std::string& key) { script("exchange(KEYS[1])", key); }

    /// Replaces all values of a hash or string with text that is not a number.
    void garble(const std::string& key) {
        const auto type = other({"TYPE", key}).text;
        if (type == "string") other({"SET", key, "x"});
        if (type != "hash") return;
        for (const auto& field : other({"HKEYS", key}).list) {
            // Leases are compared as complete texts, and names of entities may be any text.
            if (key.starts_with("routemaster:leases:") && field.text != "newest") continue;
            other({"HSET", key, field.text, "x"});
        }
    }

    [[nodiscard]] std::string fingerprint() { return script("return fingerprint()").text; }
    [[nodiscard]] std::string content(const std::string& key) {
        return script("return redis.call('DUMP', KEYS[1])", key).text;
    }

    [[nodiscard]] std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& key : other({"KEYS", "*"}).list) all.push_back(key.text);
        return all;
    }

    /// All keys that the steps below could use, present or not.
    [[nodiscard]] std::set<std::string> possible_names() {
        const auto present = names();
        std::set<std::string> all{present.begin(), present.end()};
        for (const char* key : {"topics",
                                "subscribers",
                                "counters",
                                "workers",
                                "batches:index",
                                "batches:gauges:batch",
                                "batches:gauges:event",
                                "api_tokens:by_token",
                                "routemaster:claims",
                                "routemaster:dead",
                                "routemaster:fence",
                                "routemaster:queues",
                                "routemaster:untidy",
                                "routemaster:kept_keys",
                                "routemaster:idempotency_keys",
                                "routemaster:callbacks",
                                "routemaster:callback:",
                                "routemaster:callback:search",
                                "routemaster:job_batches",
                                "routemaster:job_batches:ended",
                                "routemaster:job_batches:ends",
                                "routemaster:job_batch_names",
                                "routemaster:job_batch:1",
                                "routemaster:job_batch:2"}) {
            all.insert(key);
        }
        for (const std::string topic : {"cats", "dogs", "fish"}) {
            for (const char* family : {"topic:", "subscribers:"}) all.insert(family + topic);
        }
        for (const std::string token : {"audit", "billing", "search"}) {
            for (const char* family :
                 {"subscriber:", "topics:", "batches:current:", "routemaster:group:",
                  "routemaster:dead:", "routemaster:turns:"}) {
                all.insert(family + token);
            }
        }
        for (const std::string queue :
             {"main", "aux", "work", "keyed", "batched", "main:callbacks"}) {
            for (const char* family :
                 {"jobs:index:", "jobs:scheduled:", "jobs:instant:", "jobs:pending:index:",
                  "routemaster:blocked:", "routemaster:waiting:", "routemaster:due:"}) {
                all.insert(family + queue);
            }
            for (const Uid& one : {worker, second_worker}) {
                all.insert("jobs:pending:" + queue + ":" + std::string{one.text()});
            }
        }
        for (const Uid& one : {worker, second_worker}) {
            all.insert("routemaster:leases:" + std::string{one.text()});
        }
        for (const char* key :
             {"gl", "ch", "ei", "ed", "et", "routemaster:dead", "routemaster:dead_events",
              "routemaster:confirm", "routemaster:listeners", "routemaster:turn"}) {
            all.insert("dt:" + std::string{key});
        }
        std::set<std::string> uids{"BATCHBATCHBATCHBZAAA"};
        for (const auto& key : present) {
            for (const std::string family : {"batches:", "routemaster:dead_batch:"}) {
                if (key.starts_with(family + "BATCH")) uids.insert(key.substr(family.size()));
            }
        }
        for (const auto& uid : uids) {
            all.insert("batches:" + uid);
            all.insert("routemaster:dead_batch:" + uid);
        }
        return all;
    }

private:
    RedisClient client_{server.address()};
};

}  // namespace routemaster::test
