#include "support/ruby.hpp"

#include <chrono>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/store/delivery_job.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/random.hpp"
#include "routemaster/uid.hpp"
#include "support/http_client.hpp"

namespace routemaster::test {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t silence = 3'000;
constexpr std::int64_t retry_wait = 100;

constexpr const char* batch_ingest = R"(
    local uid = ARGV[1]
    if uid == '' or redis.call('SISMEMBER', KEYS[1], uid) == 0 then
        uid = ARGV[2]
        redis.call('SADD', KEYS[1], uid)
        redis.call('ZADD', 'batches:index', ARGV[7], uid)
        redis.call('RPUSH', 'batches:' .. uid, ARGV[4], ARGV[7], 0)
        redis.call('HINCRBY', 'batches:gauges:batch', ARGV[4], 1)
    end
    redis.call('RPUSH', 'batches:' .. uid, ARGV[3])
    redis.call('HINCRBY', 'batches:gauges:event', ARGV[4], 1)
    local length = redis.call('LLEN', 'batches:' .. uid) - ARGV[5]
    if length >= tonumber(ARGV[6]) then redis.call('SREM', KEYS[1], uid) end
    return {uid, length})";

constexpr const char* queue_push_scheduled = R"(
    if redis.call('SADD', 'jobs:index:main', ARGV[1]) == 0 then return end
    return redis.call('ZADD', 'jobs:scheduled:main', ARGV[2], ARGV[1]))";

constexpr const char* queue_promote = R"(
    local score = redis.call('ZSCORE', 'jobs:scheduled:main', ARGV[1])
    if not score then return end
    redis.call('LPUSH', 'jobs:instant:main', ARGV[1])
    redis.call('ZREM', 'jobs:scheduled:main', ARGV[1])
    return score)";

constexpr const char* queue_schedule = R"(
    local jobs = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
    if #jobs == 0 then return 0 end
    redis.call('LPUSH', KEYS[2], unpack(jobs))
    redis.call('ZREM', KEYS[1], unpack(jobs))
    return #jobs)";

constexpr const char* batch_load_and_count = R"(
    if redis.call('EXISTS', KEYS[1]) == 0 then return end
    redis.call('LSET', KEYS[1], 2, redis.call('LINDEX', KEYS[1], 2) + 1)
    return redis.call('LRANGE', KEYS[1], 0, -1))";

constexpr const char* batch_delete = R"(
    local length = redis.call('LLEN', 'batches:' .. ARGV[1])
    redis.call('DEL', 'batches:' .. ARGV[1])
    redis.call('ZREM', 'batches:index', ARGV[1])
    redis.call('SREM', 'batches:current:' .. ARGV[2], ARGV[1])
    if length < 3 then return 0 end
    redis.call('HINCRBY', 'batches:gauges:batch', ARGV[2], -1)
    redis.call('HINCRBY', 'batches:gauges:event', ARGV[2], 3 - length)
    return length - 3)";

constexpr const char* queue_ack = R"(
    redis.call('LREM', KEYS[1], 0, ARGV[1])
    return redis.call('SREM', KEYS[2], ARGV[1]))";

constexpr const char* queue_nack = R"(
    redis.call('LREM', KEYS[1], 0, ARGV[1])
    redis.call('ZADD', 'jobs:scheduled:main', ARGV[2], ARGV[1])
    return redis.call('SADD', 'jobs:index:main', ARGV[1]))";

constexpr const char* queue_scrub = R"(
    local count = 0
    while redis.call('RPOPLPUSH', KEYS[1], 'jobs:instant:main') do count = count + 1 end
    redis.call('SREM', 'jobs:pending:index:main', ARGV[1])
    return count)";

std::int64_t now() { return to_milliseconds(system_clock().now()); }
std::string now_text() { return std::to_string(now()); }

RedisReply script(RedisClient& redis, const char* text, const std::vector<std::string>& keys,
                  const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"EVAL", text, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return redis.command(words);
}

std::map<std::string, std::string> hash(RedisClient& redis, const std::string& key) {
    std::map<std::string, std::string> all;
    const auto fields = redis.command({"HGETALL", key}).list;
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) all[fields[i].text] = fields[i + 1].text;
    return all;
}

std::string setting(const std::map<std::string, std::string>& known, const std::string& name,
                    const std::string& otherwise) {
    const auto found = known.find(name);
    return found == known.end() ? otherwise : found->second;
}

/// The reason why Ruby Routemaster cannot read an event; empty when it can.
std::string refusal_of(const std::string& message) {
    constexpr std::size_t data_max = 64;
    const auto event = decode_message(message);
    if (!event) return {};
    if (event->url.rfind("https://", 0) != 0) return "URL is not HTTPS: '" + event->url + "'";
    if (event->url.find('?') != std::string::npos) return "URL has query string";
    if (event->data && encoded_size(*event->data) > data_max) return "data is too long";
    return {};
}

/// Posts a batch. Returns whether it was accepted. `callback` has the form
/// `http://127.0.0.1:PORT/PATH`.
bool post(const std::string& callback, const std::string& body) {
    const auto colon = callback.rfind(':');
    const auto slash = callback.find('/', colon);
    try {
        HttpClient client{static_cast<std::uint16_t>(std::stoul(callback.substr(colon + 1)))};
        return client.ask("POST", callback.substr(slash), body).status / 100 == 2;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

RubyWeb::RubyWeb(const RedisAddress& address, std::uint64_t seed) : redis_{address}, uids_{seed} {}

std::string RubyWeb::fresh_uid() {
    Random random{++uids_ * 0x9e3779b97f4a7c15U};
    return std::string{Uid{random.next(), random.next()}.text()};
}

void RubyWeb::publish(const std::string& topic, const std::string& url) {
    const auto at = system_clock().now();
    const auto message =
        encode_message({.topic = topic, .type = EventType::update, .url = url}, at);
    redis_.command({"SADD", "topics", topic});
    for (const auto& member : redis_.command({"SMEMBERS", "subscribers:" + topic}).list) {
        const auto& token = member.text;
        const auto known = hash(redis_, "subscriber:" + token);
        const auto current = "batches:current:" + token;
        const auto max = setting(known, "max_events", "100");
        const auto reply = script(redis_, batch_ingest, {current},
                                  {redis_.command({"SRANDMEMBER", current}).text, fresh_uid(),
                                   message, token, "3", max, std::to_string(to_milliseconds(at))})
                               .list;
        const auto job = detail::delivery_job(*Uid::parse(reply.at(0).text));
        const auto due = to_milliseconds(at) + std::stoll(setting(known, "timeout", "500"));
        script(redis_, queue_push_scheduled, {}, {job, std::to_string(due)});
        if (reply.at(1).number >= std::stoll(max)) script(redis_, queue_promote, {}, {job});
    }
    redis_.command({"HINCRBY", "topic:" + topic, "counter", "1"});
}

RubyWorker::RubyWorker(RedisAddress address, int threads, std::uint64_t seed)
    : address_{std::move(address)} {
    Random random{seed};
    threads_.emplace_back([this] { schedule(); });
    threads_.emplace_back([this] { scrub(); });
    threads_.emplace_back(
        [this, id = Uid{random.next(), random.next()}] { keep_house(std::string{id.text()}); });
    for (int i = 0; i < threads; ++i) {
        threads_.emplace_back(
            [this, id = Uid{random.next(), random.next()}] { work(std::string{id.text()}); });
    }
}

RubyWorker::~RubyWorker() { stop(); }

void RubyWorker::stop() {
    stopping_ = true;
    end();
}

void RubyWorker::kill() {
    killed_ = true;
    stop();
}

std::string RubyWorker::ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
}

void RubyWorker::end_because(const std::string& reason) {
    const std::lock_guard lock{mutex_};
    if (ended_.empty()) ended_ = reason;
    stopping_ = true;
}

void RubyWorker::end() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

void RubyWorker::schedule() {
    RedisClient redis{address_};
    while (!stopping_) {
        for (const std::string queue : {"aux", "main"}) {
            script(redis, queue_schedule, {"jobs:scheduled:" + queue, "jobs:instant:" + queue},
                   {now_text(), "100"});
        }
        std::this_thread::sleep_for(milliseconds{100});
    }
}

void RubyWorker::scrub() {
    RedisClient redis{address_};
    for (auto next = now() + 1'000; !stopping_; std::this_thread::sleep_for(milliseconds{10})) {
        if (now() < next) continue;
        next += 1'000;
        const auto seen = hash(redis, "workers");
        for (const auto& member : redis.command({"SMEMBERS", "jobs:pending:index:main"}).list) {
            const auto& id = member.text;
            if (std::stoll(setting(seen, id, "0")) > now() - silence) continue;
            script(redis, queue_scrub, {"jobs:pending:main:" + id}, {id});
        }
    }
}

void RubyWorker::work(const std::string& id) {
    RedisClient redis{address_};
    while (!stopping_) {
        redis.command({"HSET", "workers", id, now_text()});
        redis.command({"SADD", "jobs:pending:index:main", id});
        const auto job =
            redis.command({"BRPOPLPUSH", "jobs:instant:main", "jobs:pending:main:" + id, "0.2"});
        if (job.kind == RedisReply::Kind::text) run(redis, id, job.text);
    }
    if (!killed_) redis.command({"HDEL", "workers", id});
}

void RubyWorker::keep_house(const std::string& id) {
    RedisClient redis{address_};
    const auto pending = "jobs:pending:aux:" + id;
    while (!stopping_) {
        redis.command({"HSET", "workers", id, now_text()});
        redis.command({"SADD", "jobs:pending:index:aux", id});
        const auto job = redis.command({"BRPOPLPUSH", "jobs:instant:aux", pending, "0.2"});
        if (job.kind != RedisReply::Kind::text) continue;
        bool is_known = false;
        for (const char* name : {"autodrop", "monitor", "scrub_queues", "scrub_workers"}) {
            is_known = is_known || job.text == encode_job({name});
        }
        if (!is_known) return end_because("uninitialized constant of a job of aux");
        script(redis, queue_ack, {pending, "jobs:index:aux"}, {job.text});
    }
    if (!killed_) redis.command({"HDEL", "workers", id});
}

void RubyWorker::run(RedisClient& redis, const std::string& id, const std::string& job) {
    const auto pending = "jobs:pending:main:" + id;
    if (!detail::batch_of(job)) return end_because("uninitialized constant of a job of main");
    const auto uid = std::string{detail::batch_of(job)->text()};
    const auto list = "batches:" + uid;
    const auto token = redis.command({"LINDEX", list, "0"}).text;
    redis.command({"SREM", "batches:current:" + token, uid});
    const auto batch = script(redis, batch_load_and_count, {list}, {}).list;
    const auto known = hash(redis, "subscriber:" + token);
    const bool wanted =
        batch.size() > 3 && redis.command({"SISMEMBER", "subscribers", token}).number == 1;
    bool accepted = false;
    if (wanted) {
        MessageList messages;
        for (std::size_t i = 3; i < batch.size(); ++i) {
            if (auto why = refusal_of(batch[i].text); !why.empty()) return end_because(why);
            messages.append(batch[i].text);
        }
        redis.command({"HSET", "subscriber:" + token, "last_attempted_at", now_text()});
        accepted = post(setting(known, "callback", ""), delivery_body(messages).json);
        if (killed_) return;
    }
    if (wanted && !accepted) {
        script(redis, queue_nack, {pending}, {job, std::to_string(now() + retry_wait)});
        return;
    }
    if (accepted) ++delivered_;
    script(redis, batch_delete, {}, {uid, token});
    script(redis, queue_ack, {pending, "jobs:index:main"}, {job});
}

}  // namespace routemaster::test
