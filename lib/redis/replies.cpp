#include "replies.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/store/step_check.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {
namespace {

/// A reply that is not what the script promises.
struct Unexpected {};

std::span<redisReply* const> items(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ARRAY) throw Unexpected{};
    return {reply.element, reply.elements};
}

/// At least `count` items.
std::span<redisReply* const> items(const redisReply& reply, std::size_t count) {
    const auto all = items(reply);
    if (all.size() < count) throw Unexpected{};
    return all;
}

bool absent(const redisReply& reply) { return reply.type == REDIS_REPLY_NIL; }

std::string_view text(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_STRING) throw Unexpected{};
    return {reply.str, static_cast<std::size_t>(reply.len)};
}

std::optional<std::int64_t> if_number(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_INTEGER) return reply.integer;
    const auto digits = text(reply);
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, value).ptr != end) return std::nullopt;
    return value;
}

std::int64_t number(const redisReply& reply) {
    const auto value = if_number(reply);
    if (!value) throw Unexpected{};
    return *value;
}

/// Of a setting or number that somebody may have spoilt: what is none counts as absent.
std::int64_t number_or(const redisReply& reply, std::int64_t otherwise) {
    return absent(reply) ? otherwise : if_number(reply).value_or(otherwise);
}

template <class Number>
Number within(const redisReply& reply, Number otherwise) {
    const auto value = number_or(reply, static_cast<std::int64_t>(otherwise));
    return static_cast<Number>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

Uid uid(const redisReply& reply) {
    const auto parsed = Uid::parse(text(reply));
    if (!parsed) throw Unexpected{};
    return *parsed;
}

/// Reads the reply to each kind of step.
class Reader {
public:
    Reader(const AskedFor& asked_for, Duration clock_offset)
        : asked_for_{asked_for}, clock_offset_{clock_offset} {}

    // One overload for each kind of step, in their order; the pointer only names the kind.

    Done read(const PublishEvent*, const redisReply& r) const {
        switch (number(r)) {
            case 1: return {};
            case 0: throw Failure{detail::topic_claimed()};
            case -1: throw Failure{detail::too_many_topics()};
            case -2: throw Failure{detail::unknown_publisher()};
            default: throw Unexpected{};
        }
    }
    Removal read(const RemoveTopic*, const redisReply& r) const {
        if (number(r) < 0) throw Failure{detail::topic_claimed()};
        return removal(r);
    }
    std::vector<Topic> read(const ListTopics*, const redisReply& r) const {
        return list<Topic>(r, [](const redisReply& one) {
            const auto parts = items(one, 3);
            Topic topic;
            topic.name = text(*parts[0]);
            if (!absent(*parts[1])) topic.publisher = text(*parts[1]);
            topic.events = static_cast<std::uint64_t>(number_or(*parts[2], 0));
            return topic;
        });
    }
    Done read(const Subscribe*, const redisReply&) const { return {}; }
    Unsubscription read(const Unsubscribe*, const redisReply& r) const {
        switch (number(r)) {
            case 0: return Unsubscription::unsubscribed;
            case 1: return Unsubscription::unknown_subscriber;
            case 2: return Unsubscription::unknown_topic;
            case 3: return Unsubscription::not_subscribed;
            default: throw Unexpected{};
        }
    }
    Removal read(const RemoveSubscriber*, const redisReply& r) const { return removal(r); }
    std::vector<SubscriberStatus> read(const ListSubscribers*, const redisReply& r) const {
        return list<SubscriberStatus>(r, [&](const redisReply& one) { return status(one); });
    }
    std::optional<SubscriberStatus> read(const FindSubscriber*, const redisReply& r) const {
        if (absent(r)) return std::nullopt;
        return status(r);
    }
    std::vector<BatchStatus> read(const ListBatches*, const redisReply& r) const {
        return list<BatchStatus>(r, [&](const redisReply& one) {
            const auto parts = items(one, 5);
            return BatchStatus{uid(*parts[0]),
                               asked_for_.subscriber,
                               time(*parts[1]),
                               within<std::uint32_t>(*parts[2], 0),
                               static_cast<std::uint64_t>(number(*parts[3])),
                               number(*parts[4]) == 1};
        });
    }
    Done read(const PutToken*, const redisReply&) const { return {}; }
    Removal read(const RemoveToken*, const redisReply& r) const { return removal(r); }
    std::optional<std::string> read(const FindToken*, const redisReply& r) const {
        if (absent(r)) return std::nullopt;
        return std::string{text(r)};
    }
    std::vector<ApiToken> read(const ListTokens*, const redisReply& r) const {
        return list<ApiToken>(r, [](const redisReply& one) {
            const auto parts = items(one, 2);
            return ApiToken{std::string{text(*parts[0])}, std::string{text(*parts[1])}};
        });
    }
    PushOutcome read(const PushJob*, const redisReply& r) const {
        return number(r) == 1 ? PushOutcome::pushed : PushOutcome::duplicate;
    }
    Acquired read(const AcquireJobs*, const redisReply& r) const {
        const auto parts = items(r, 1);
        Acquired acquired;
        if (!absent(*parts[0])) acquired.next_due = time(*parts[0]);
        acquired.leases.reserve(parts.size() / 2);
        for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
            acquired.leases.push_back({asked_for_.queue, std::string{text(*parts[i + 1])},
                                       asked_for_.worker,
                                       static_cast<std::uint64_t>(number(*parts[i]))});
        }
        return acquired;
    }
    Settlement read(const AckJob*, const redisReply& r) const { return settlement(r); }
    Settlement read(const NackJob*, const redisReply& r) const { return settlement(r); }
    Done read(const Heartbeat*, const redisReply&) const { return {}; }
    Count read(const RetireWorker*, const redisReply& r) const { return count(r); }
    Count read(const ScrubWorkers*, const redisReply& r) const { return count(r); }
    QueueStatus read(const CountJobs*, const redisReply& r) const {
        const auto parts = items(r, 3);
        return {count(*parts[0]).value, count(*parts[1]).value, count(*parts[2]).value};
    }
    DeliveryStart read(const BeginDelivery*, const redisReply& r) const {
        if (r.type == REDIS_REPLY_INTEGER) {
            constexpr Verdict verdicts[]{Verdict::lease_lost, Verdict::throttled, Verdict::vanished,
                                         Verdict::at_limit};
            if (r.integer < 0 || r.integer > 3) throw Unexpected{};
            return {.verdict = verdicts[r.integer]};
        }
        const auto parts = items(r, 14);
        DeliveryStart start{
            .verdict = Verdict::deliver,
            .subscription = subscription({parts[3], parts[4], parts[5], parts[6], parts[7],
                                          parts[8], parts[9], parts[10], parts[11]}),
            .health_points = within<int>(*parts[12], 100),
            .batch = uid(*parts[0]),
            .created_at = time(*parts[1]),
            .attempt = within<std::uint32_t>(*parts[2], 1)};
        for (const auto* message : items(*parts[13])) start.messages.append(text(*message));
        return start;
    }
    Settlement read(const SettleDelivery*, const redisReply& r) const {
        return number(r) == 2 ? Settlement::dead : settlement(r);
    }
    std::vector<DeadBatchStatus> read(const ListDeadBatches*, const redisReply& r) const {
        if (r.type == REDIS_REPLY_INTEGER) throw Failure{detail::not_dead()};
        return list<DeadBatchStatus>(r, [&](const redisReply& one) { return dead(one); });
    }
    std::optional<DeadMessages> read(const FindDeadBatch*, const redisReply& r) const {
        if (absent(r)) return std::nullopt;
        DeadMessages found{dead(r)};
        for (const auto* message : items(*items(r, 8)[7])) found.messages.append(text(*message));
        return found;
    }
    Count read(const RedeliverDeadBatches*, const redisReply& r) const { return count(r); }
    Dropped read(const DropDeadBatches*, const redisReply& r) const { return dropped(r); }
    StoreUse read(const MeasureUse*, const redisReply& r) const { return {count(r).value}; }
    Dropped read(const DropOldestBatches*, const redisReply& r) const { return dropped(r); }
    Done read(const AddToCounters*, const redisReply&) const { return {}; }
    std::vector<Counter> read(const ListCounters*, const redisReply& r) const {
        std::vector<Counter> counters;
        const auto parts = items(r);
        for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
            // A field that is none of ours or Ruby Routemaster's is not for us to tell.
            auto key = decode_counter_key(text(*parts[i]));
            if (key) counters.push_back({*std::move(key), number(*parts[i + 1])});
        }
        return counters;
    }

private:
    template <class T, class Read>
    static std::vector<T> list(const redisReply& reply, Read read) {
        std::vector<T> all;
        for (const auto* one : items(reply)) all.push_back(read(*one));
        return all;
    }

    [[nodiscard]] TimePoint time(const redisReply& reply) const {
        return from_wire(number(reply), clock_offset_);
    }

    static Removal removal(const redisReply& reply) {
        return number(reply) == 1 ? Removal::removed : Removal::unknown;
    }
    static Settlement settlement(const redisReply& reply) {
        return number(reply) == 1 ? Settlement::settled : Settlement::lease_lost;
    }
    static Count count(const redisReply& reply) {
        return {static_cast<std::uint64_t>(std::max<std::int64_t>(number(reply), 0))};
    }

    static Dropped dropped(const redisReply& reply) {
        const auto parts = items(reply, 2);
        return {count(*parts[0]).value, count(*parts[1]).value};
    }

    [[nodiscard]] DeadBatchStatus dead(const redisReply& reply) const {
        const auto parts = items(reply, 7);
        return {.uid = uid(*parts[0]),
                .subscriber = std::string{text(*parts[3])},
                .created_at = time(*parts[4]),
                .died_at = time(*parts[1]),
                .attempts = within<std::uint32_t>(*parts[5], 0),
                .events = static_cast<std::uint64_t>(number(*parts[6])),
                .error = std::string{text(*parts[2])}};
    }

    /// Of token, callback, uuid, timeout, max_events, max_in_flight, attempts_max, age_max,
    /// dead_max.
    static Subscription subscription(const std::array<const redisReply*, 9>& parts) {
        Subscription told;
        told.token = text(*parts[0]);
        if (!absent(*parts[1])) told.callback = text(*parts[1]);
        if (!absent(*parts[2])) told.uuid = text(*parts[2]);
        told.timeout = Duration{number_or(*parts[3], told.timeout.count())};
        told.max_events = within(*parts[4], told.max_events);
        told.max_in_flight = within(*parts[5], told.max_in_flight);
        told.attempts_max = within(*parts[6], told.attempts_max);
        told.age_max = Duration{number_or(*parts[7], told.age_max.count())};
        told.dead_max = within(*parts[8], told.dead_max);
        return told;
    }

    [[nodiscard]] SubscriberStatus status(const redisReply& reply) const {
        const auto parts = items(reply, 15);
        SubscriberStatus told{
            .subscription = subscription({parts[0], parts[1], parts[2], parts[3], parts[4],
                                          parts[5], parts[11], parts[12], parts[13]}),
            .topics = list<std::string>(
                *parts[10], [](const redisReply& name) { return std::string{text(name)}; }),
            .events_queued = static_cast<std::uint64_t>(number_or(*parts[8], 0)),
            .batches_queued = static_cast<std::uint64_t>(number_or(*parts[9], 0)),
            .health_points = within<int>(*parts[6], 100),
            .last_attempted_at = std::nullopt,
            .batches_dead = static_cast<std::uint64_t>(number_or(*parts[14], 0))};
        if (!absent(*parts[7])) told.last_attempted_at = time(*parts[7]);
        std::sort(told.topics.begin(), told.topics.end());
        return told;
    }

    const AskedFor& asked_for_;
    Duration clock_offset_;
};

template <std::size_t kind>
Outcome read_as(const Reader& reader, const redisReply& reply) {
    return Reply{
        reader.read(static_cast<const std::variant_alternative_t<kind, Step>*>(nullptr), reply)};
}

template <std::size_t... kinds>
Outcome read_kind(std::size_t kind, const Reader& reader, const redisReply& reply,
                  std::index_sequence<kinds...>) {
    using Read = Outcome (*)(const Reader&, const redisReply&);
    static constexpr Read reads[]{read_as<kinds>...};
    return reads[kind](reader, reply);
}

}  // namespace

ReplyReader::ReplyReader(const Step& step, Duration clock_offset)
    : kind_{step.index()}, clock_offset_{clock_offset} {
    if (const auto* acquire = std::get_if<AcquireJobs>(&step)) {
        asked_for_.queue = acquire->queue;
        asked_for_.worker = acquire->worker;
    } else if (const auto* batches = std::get_if<ListBatches>(&step)) {
        asked_for_.subscriber = batches->token;
    }
}

Outcome ReplyReader::read(const CallResult& result) const {
    if (!result) return result.error();
    try {
        return read_kind(kind_, Reader{asked_for_, clock_offset_}, **result,
                         std::make_index_sequence<std::variant_size_v<Step>>{});
    } catch (const Unexpected&) {
        return Error{Errc::corrupted, "the server's reply is not what the script promises"};
    } catch (const Failure& refusal) {
        return refusal.error();
    }
}

}  // namespace routemaster::redis
