#include "replay.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <msgpack.hpp>

#include "change_kind.hpp"

namespace routemaster::embedded {
namespace {

using Fields = std::span<const msgpack::object>;

std::string_view text(const msgpack::object& field) { return field.as<std::string_view>(); }
std::string string(const msgpack::object& field) { return field.as<std::string>(); }
TimePoint time(const msgpack::object& field) { return from_milliseconds(field.as<std::int64_t>()); }
Fields list(const msgpack::object& field) {
    if (field.type != msgpack::type::ARRAY) throw msgpack::type_error{};
    return {field.via.array.ptr, field.via.array.size};
}
std::optional<std::string> optional_string(const msgpack::object& field) {
    return field.is_nil() ? std::nullopt : std::optional{string(field)};
}
Uid uid(const msgpack::object& field) {
    const auto parsed = Uid::parse(text(field));
    if (!parsed) throw msgpack::type_error{};
    return *parsed;
}

/// Replays the changes of one row, one by one.
class Replay {
public:
    Replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
           JournalWriter& writer)
        : changes_{changes}, row_{row}, machine_{machine}, writer_{writer} {}

    /// Applies one change, of `bytes` bytes at `offset`. Throws what msgpack-c throws when it is
    /// not a valid change.
    void apply(const msgpack::object& change, std::size_t offset, std::size_t bytes) {
        offset_ = offset;
        const auto all = list(change);
        if (all.empty()) throw msgpack::type_error{};
        bytes_ = bytes;
        const auto kind = static_cast<ChangeKind>(all.front().as<std::uint8_t>());
        const auto fields = all.subspan(1);
        if (fields.size() < fields_of(kind)) throw msgpack::type_error{};
        switch (kind) {
            case ChangeKind::topic: return topic(fields);
            case ChangeKind::topic_gone: return topic_gone(fields);
            case ChangeKind::subscriber: return subscriber(fields);
            case ChangeKind::subscriber_gone: return subscriber_gone(fields);
            case ChangeKind::token: return token(fields);
            case ChangeKind::token_gone: return token_gone(fields);
            case ChangeKind::batch: return batch(fields);
            case ChangeKind::batch_changed: return batch_changed(fields);
            case ChangeKind::event: return event(fields);
            case ChangeKind::batch_gone: return batch_gone(fields);
            case ChangeKind::job: return job(fields);
            case ChangeKind::job_gone: return job_gone(fields);
            case ChangeKind::job_over: return job_over(fields);
            case ChangeKind::counter: return counter(fields);
            case ChangeKind::batch_dead: return batch_dead(fields);
            case ChangeKind::batch_redelivered: return batch_redelivered(fields);
        }
        throw msgpack::type_error{};
    }

private:
    static std::size_t fields_of(ChangeKind kind) {
        switch (kind) {
            case ChangeKind::topic: return 3;
            case ChangeKind::subscriber: return 9;
            case ChangeKind::batch: return 7;
            case ChangeKind::batch_dead: return 4;
            case ChangeKind::batch_changed:
            case ChangeKind::batch_redelivered:
            case ChangeKind::job_over: return 3;
            case ChangeKind::job: return 5;
            case ChangeKind::counter: return 3;
            case ChangeKind::token:
            case ChangeKind::event:
            case ChangeKind::job_gone: return 2;
            case ChangeKind::topic_gone:
            case ChangeKind::subscriber_gone:
            case ChangeKind::token_gone:
            case ChangeKind::batch_gone: return 1;
        }
        return 0;
    }

    void note_full_record(detail::Entity& entity) { writer_.restored(entity, row_, bytes_, true); }

    void topic(Fields fields) {
        auto& state = machine_.registry().restore_topic(string(fields[0]));
        state.topic.publisher = optional_string(fields[1]);
        state.topic.events = fields[2].as<std::uint64_t>();
        note_full_record(state);
    }

    void topic_gone(Fields fields) {
        auto* state = machine_.registry().topic(string(fields[0]));
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.registry().unrestore_topic(string(fields[0]));
    }

    void subscriber(Fields fields) {
        auto& state = machine_.registry().restore_subscriber(string(fields[0]));
        auto& subscription = state.subscription;
        subscription.callback = string(fields[1]);
        subscription.uuid = string(fields[2]);
        subscription.timeout = Duration{fields[3].as<std::int64_t>()};
        subscription.max_events = fields[4].as<std::uint32_t>();
        subscription.max_in_flight = fields[5].as<std::uint32_t>();
        state.health_points = fields[6].as<int>();
        state.last_attempted_at.reset();
        if (!fields[7].is_nil()) state.last_attempted_at = time(fields[7]);
        state.topics.clear();
        for (const auto& name : list(fields[8])) state.topics.insert(string(name));
        if (fields.size() >= 12) {
            subscription.attempts_max = fields[9].as<std::uint32_t>();
            subscription.age_max = Duration{fields[10].as<std::int64_t>()};
            subscription.dead_max = fields[11].as<std::uint32_t>();
        }
        note_full_record(state);
    }

    void subscriber_gone(Fields fields) {
        auto* state = machine_.registry().subscriber(string(fields[0]));
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.registry().unrestore_subscriber(string(fields[0]));
    }

    void token(Fields fields) {
        auto& state = machine_.registry().restore_token(string(fields[0]));
        state.token.name = string(fields[1]);
        note_full_record(state);
    }

    void token_gone(Fields fields) {
        auto* state = machine_.registry().token(string(fields[0]));
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.registry().unrestore_token(string(fields[0]));
    }

    void batch(Fields fields) {
        auto& subscriber_queues = machine_.subscriber_queues();
        auto* state = subscriber_queues.find(uid(fields[0]));
        if (state == nullptr) {
            state = &subscriber_queues.restore(subscriber_queues.open(string(fields[1])),
                                               uid(fields[0]), time(fields[2]),
                                               fields[3].as<std::uint64_t>());
        }
        state->attempts = fields[4].as<std::uint32_t>();
        state->current = fields[5].as<bool>();
        state->death.reset();
        forget_messages(*state);
        for (const auto& message : list(fields[6])) append(*state, text(message));
        state->full_record = true;
        state->offset = static_cast<std::uint32_t>(offset_);
        note_full_record(*state);
    }

    void forget_messages(detail::BatchState& state) {
        if (state.messages.resident()) {
            writer_.resident_changed(-static_cast<std::int64_t>(state.messages.payload_bytes()));
        }
        state.messages = {};
    }

    void append(detail::BatchState& state, std::string_view message) {
        state.messages.append(message);
        writer_.resident_changed(static_cast<std::int64_t>(message.size()));
    }

    void batch_changed(Fields fields) {
        auto* state = machine_.subscriber_queues().find(uid(fields[0]));
        if (state == nullptr) return;
        state->attempts = fields[1].as<std::uint32_t>();
        state->current = fields[2].as<bool>();
        writer_.restored(*state, row_, 0, false);
    }

    void batch_dead(Fields fields) {
        auto* state = machine_.subscriber_queues().find(uid(fields[0]));
        if (state == nullptr) return;
        state->attempts = fields[1].as<std::uint32_t>();
        state->current = false;
        state->death =
            std::make_unique<detail::Death>(detail::Death{time(fields[2]), string(fields[3])});
        writer_.restored(*state, row_, bytes_, false);
    }

    void batch_redelivered(Fields fields) {
        auto* state = machine_.subscriber_queues().find(uid(fields[0]));
        if (state == nullptr) return;
        state->attempts = 0;
        state->created_at = time(fields[1]);
        state->order = fields[2].as<std::uint64_t>();
        state->death.reset();
        writer_.restored(*state, row_, bytes_, false);
    }

    void event(Fields fields) {
        const auto message = text(fields[0]);
        for (const auto& name : list(fields[1])) {
            auto* state = machine_.subscriber_queues().find(uid(name));
            if (state == nullptr) continue;
            append(*state, message);
            state->full_record = false;
            writer_.restored(*state, row_, message.size(), false);
        }
    }

    void batch_gone(Fields fields) {
        auto* state = machine_.subscriber_queues().find(uid(fields[0]));
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.subscriber_queues().unrestore(*state);
    }

    void job(Fields fields) {
        auto& jobs = machine_.jobs();
        auto& queue = jobs.queue(string(fields[0]));
        const auto order = fields[3].as<std::uint64_t>();
        const auto hash = detail::payload_hash(text(fields[1]));
        auto* state = detail::JobTable::find(queue, hash, order);
        if (state == nullptr) {
            const auto group = optional_string(fields[4]);
            state =
                &jobs.restore(queue, text(fields[1]), hash, time(fields[2]), order,
                              group ? &machine_.subscriber_queues().open(*group).group : nullptr);
        }
        if (!state->payload.resident()) {
            state->payload.load(text(fields[1]));
            writer_.resident_changed(static_cast<std::int64_t>(state->payload.size()));
        }
        state->payload.note_offset(
            static_cast<std::uint32_t>(text(fields[1]).data() - changes_.data()));
        state->run_at = time(fields[2]);
        note_full_record(*state);
    }

    void job_gone(Fields fields) {
        auto& queue = machine_.jobs().queue(string(fields[0]));
        job_ended(machine_.jobs().find(queue, text(fields[1])));
    }

    void job_over(Fields fields) {
        auto& queue = machine_.jobs().queue(string(fields[0]));
        job_ended(detail::JobTable::find(queue, fields[1].as<std::uint32_t>(),
                                         fields[2].as<std::uint64_t>()));
    }

    void job_ended(detail::JobState* state) {
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.jobs().unrestore(*state);
    }

    void counter(Fields fields) {
        CounterKey key{.name = string(fields[0])};
        for (const auto& tag : list(fields[1])) {
            const auto pair = list(tag);
            if (pair.size() != 2) throw msgpack::type_error{};
            key.tags.emplace_back(string(pair[0]), optional_string(pair[1]));
        }
        auto& state = machine_.counters().at(std::move(key));
        state.value = fields[2].as<std::int64_t>();
        note_full_record(state);
    }

    std::string_view changes_;
    std::uint64_t row_;
    detail::Machine& machine_;
    JournalWriter& writer_;
    std::size_t offset_ = 0;
    std::size_t bytes_ = 0;
};

/// Texts are not copied; only the lists are built.
bool referenced(msgpack::type::object_type, std::size_t, void*) { return true; }

}  // namespace

Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer) {
    Replay replay{changes, row, machine, writer};
    msgpack::zone zone;  // Memory for the lists, reused for each change.
    std::size_t offset = 0;
    try {
        while (offset < changes.size()) {
            const auto begun = offset;
            bool in_place = false;
            const auto change =
                msgpack::unpack(zone, changes.data(), changes.size(), offset, in_place, referenced);
            replay.apply(change, begun, offset - begun);
            zone.clear();
        }
    } catch (const msgpack::type_error&) {
        return Error{Errc::corrupted,
                     "a change at byte " + std::to_string(offset) + " is malformed"};
    } catch (const msgpack::unpack_error&) {
        return Error{Errc::corrupted, "not a change at byte " + std::to_string(offset)};
    } catch (const Failure& failure) {
        return failure.error();
    }
    return {};
}

MessageList messages_of(std::string_view changes) {
    msgpack::zone zone;
    std::size_t offset = 0;
    bool in_place = false;
    try {
        const auto change =
            msgpack::unpack(zone, changes.data(), changes.size(), offset, in_place, referenced);
        const auto fields = list(change);
        if (fields.size() < 8 || fields[0].as<std::uint8_t>() != std::uint8_t{7}) {
            throw msgpack::type_error{};
        }
        MessageList messages;
        for (const auto& message : list(fields[7])) messages.append(text(message));
        return messages;
    } catch (const std::bad_cast&) {
        // Thrown by msgpack-c for objects of another type.
    } catch (const msgpack::unpack_error&) {
        // Thrown by msgpack-c for bytes that are no object.
    }
    throw Failure{{Errc::corrupted, "the row does not begin with the full record of a batch"}};
}

}  // namespace routemaster::embedded
