#include "replay.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <msgpack.hpp>

#include "change_kind.hpp"
#include "record_fields.hpp"

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
std::vector<JobId> ids(const msgpack::object& field) { return field.as<std::vector<JobId>>(); }
std::optional<std::string> optional_string(const msgpack::object& field) {
    return field.is_nil() ? std::nullopt : std::optional{string(field)};
}
Uid uid(const msgpack::object& field) {
    const auto parsed = Uid::parse(text(field));
    if (!parsed) throw msgpack::type_error{};
    return *parsed;
}

template <class... State>
constexpr bool numbers_differ() {
    constexpr auto first = static_cast<std::uint8_t>(ChangeKind::batch);
    constexpr auto last = static_cast<std::uint8_t>(ChangeKind::job_attempts);
    std::array numbers{State::record.whole..., State::record.gone...};
    constexpr auto waits = static_cast<std::uint8_t>(ChangeKind::job_waits);
    constexpr auto timer_gone = static_cast<std::uint8_t>(ChangeKind::timer_gone);
    const auto is_taken = [](std::uint8_t number) {
        return (number >= first && number <= last) || (number >= waits && number <= timer_gone);
    };
    std::sort(numbers.begin(), numbers.end());
    return std::none_of(numbers.begin(), numbers.end(), is_taken) &&
           std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

class Replay {
public:
    Replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
           JournalWriter& writer)
        : changes_{changes}, row_{row}, machine_{machine}, writer_{writer} {}

    /// Applies a change of `bytes` bytes at `offset` in the row. Throws the exceptions of msgpack-c
    /// if the change is not valid.
    void apply(const msgpack::object& change, std::size_t offset, std::size_t bytes) {
        offset_ = offset;
        const auto all = list(change);
        if (all.empty()) throw msgpack::type_error{};
        bytes_ = bytes;
        const auto number = all.front().as<std::uint8_t>();
        const auto kind = static_cast<ChangeKind>(number);
        const auto fields = all.subspan(1);
        if (fields.size() < fields_of(kind)) throw msgpack::type_error{};
        switch (kind) {
            case ChangeKind::batch: return batch(fields);
            case ChangeKind::batch_changed: return batch_changed(fields);
            case ChangeKind::event: return event(fields);
            case ChangeKind::batch_gone: return batch_gone(fields);
            case ChangeKind::job: return job(fields);
            case ChangeKind::job_gone: return job_gone(fields);
            case ChangeKind::job_over: return job_over(fields);
            case ChangeKind::job_attempts: return job_attempts(fields);
            case ChangeKind::job_waits: return job_waits(fields);
            case ChangeKind::counter: return counter(fields);
            case ChangeKind::batch_dead: return batch_dead(fields);
            case ChangeKind::batch_redelivered: return batch_redelivered(fields);
            case ChangeKind::timer: return timer(fields);
            case ChangeKind::timer_moved: return timer_moved(fields);
            case ChangeKind::timer_gone: return timer_gone(fields);
        }
        if (!named(machine_.named_tables(), number, fields)) throw msgpack::type_error{};
    }

private:
    static std::size_t fields_of(ChangeKind kind) {
        switch (kind) {
            case ChangeKind::batch: return 7;
            case ChangeKind::timer:
            case ChangeKind::job_attempts:
            case ChangeKind::batch_dead: return 4;
            case ChangeKind::batch_changed:
            case ChangeKind::batch_redelivered:
            case ChangeKind::job_over: return 3;
            case ChangeKind::job:
            case ChangeKind::timer_moved:
            case ChangeKind::job_waits: return 5;
            case ChangeKind::counter: return 3;
            case ChangeKind::event:
            case ChangeKind::timer_gone:
            case ChangeKind::job_gone: return 2;
            case ChangeKind::batch_gone: return 1;
        }
        return 0;
    }

    void note_full_record(detail::Entity& entity) { writer_.restored(entity, row_, bytes_, true); }

    /// Restores an entity that has a name. False if no kind of entity has the number.
    template <class... State>
    bool named(std::tuple<detail::NamedTable<State>&...> tables, std::uint8_t number,
               Fields fields) {
        static_assert(numbers_differ<State...>());
        return (named(std::get<detail::NamedTable<State>&>(tables), number, fields) || ...);
    }

    template <class State>
    bool named(detail::NamedTable<State>& table, std::uint8_t number, Fields fields) {
        constexpr auto& record = State::record;
        if (number != record.whole && number != record.gone) return false;
        if (fields.size() < (number == record.whole ? record.fields_min : 1U)) {
            throw msgpack::type_error{};
        }
        const auto name = string(fields[0]);
        if (number == record.whole) {
            auto& state = table.open(name);
            RecordReader reader{fields};
            state.read(reader);
            note_full_record(state);
        } else if (auto* state = table.find(name)) {
            writer_.unrestored(*state);
            table.erase(*state);
        }
        return true;
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
        auto& queue = jobs.queues().open(string(fields[0]));
        const auto order = fields[3].as<std::uint64_t>();
        // Formats 3 and 4 have neither keys nor metadata, and format 3 has no details.
        const bool has_key = fields.size() > 11 && !text(fields[11]).empty();
        const auto hash = has_key ? detail::id_hash(order) : detail::payload_hash(text(fields[1]));
        auto* state = detail::JobTable::find(queue, hash, order);
        const auto further = further_fields(fields);
        if (state == nullptr) {
            const auto group = optional_string(fields[4]);
            auto* among = group ? &machine_.subscriber_queues().open(*group).group
                                : detail::JobTable::group_of(queue, further.group);
            state = &jobs.restore(queue, text(fields[1]), hash, time(fields[2]), order, among);
        }
        if (!state->payload.resident()) {
            state->payload.load(queue.payloads, text(fields[1]));
            writer_.resident_changed(static_cast<std::int64_t>(state->payload.size()));
        }
        state->payload.note_offset(
            static_cast<std::uint32_t>(text(fields[1]).data() - changes_.data()));
        state->run_at = time(fields[2]);
        state->details = fields.size() > 6 ? details(fields.subspan(5)) : nullptr;
        if (state->details != nullptr || !further.after.empty() || further.batch != 0) {
            auto& known = state->detailed();
            known.after = further.after;
            known.options.batch = further.batch;
            state->settle_details();
        }
        if (state->in_order && queue.has_ids) {
            auto& grouped = static_cast<detail::GroupedJob&>(*state);
            grouped.set_concurrency(further.concurrency);
            grouped.set_position(further.behind_due ? grouped.due_position() + *further.behind_due
                                                    : further.position);
        }
        note_full_record(*state);
    }

    /// The rarely used fields of a job. Unknown fields are ignored.
    struct Further {
        std::string group{};
        std::uint32_t concurrency = 1;
        std::uint64_t position = 0;
        std::optional<std::uint64_t> behind_due{};
        std::vector<JobId> after{};
        JobBatchId batch = 0;
    };

    static Further further_fields(Fields fields) {
        Further further;
        // Jobs without other details have the map immediately after the first five fields.
        const std::size_t at = fields.size() == 6 ? 5 : 18;
        if (fields.size() <= at) return further;
        if (fields[at].type != msgpack::type::MAP) throw msgpack::type_error{};
        const auto& map = fields[at].via.map;
        for (const auto& [key, value] : std::span{map.ptr, map.size}) {
            switch (key.as<std::uint8_t>()) {
                case JobField::group: further.group = string(value); break;
                case JobField::concurrency: further.concurrency = value.as<std::uint32_t>(); break;
                case JobField::position: further.position = value.as<std::uint64_t>(); break;
                case JobField::behind_due: further.behind_due = value.as<std::uint64_t>(); break;
                case JobField::after: further.after = ids(value); break;
                case JobField::batch: further.batch = value.as<JobBatchId>(); break;
                default: break;
            }
        }
        return further;
    }

    static KeyScope scope(const msgpack::object& field) {
        const auto number = field.as<std::uint8_t>();
        if (number > static_cast<std::uint8_t>(KeyScope::for_time)) throw msgpack::type_error{};
        return KeyScope{number};
    }

    static std::unique_ptr<detail::JobDetails> details(Fields fields) {
        if (fields.size() < 6) throw msgpack::type_error{};
        auto details = std::make_unique<detail::JobDetails>();
        details->attempts = fields[0].as<std::uint32_t>();
        details->options = {.attempts_max = fields[1].as<std::uint32_t>(),
                            .timeout = Duration{fields[2].as<std::int64_t>()},
                            .expires_at = time(fields[3])};
        if (!fields[4].is_nil()) details->buried_at = time(fields[4]);
        if (fields.size() > 6) {
            if (fields.size() < 10) throw msgpack::type_error{};
            details->options.key = {
                .text = string(fields[6]), .scope = scope(fields[7]), .until = time(fields[8])};
            details->begun = fields[9].as<bool>();
        }
        if (fields.size() > 10) {
            for (const auto& one : list(fields[10])) {
                const auto pair = list(one);
                if (pair.size() != 2) throw msgpack::type_error{};
                details->options.metadata.emplace(string(pair[0]), string(pair[1]));
            }
        }
        details->cancelled = fields.size() > 11 && fields[11].as<bool>();
        if (fields.size() > 12) details->options.priority = fields[12].as<std::int32_t>();
        for (const auto& one : list(fields[5])) {
            const auto error = list(one);
            if (error.size() < 3) throw msgpack::type_error{};
            if (error[0].as<std::uint32_t>() == 0 && text(error[2]).empty()) {
                details->failing_since = time(error[1]);
                continue;
            }
            details->errors.push_back(
                {error[0].as<std::uint32_t>(), time(error[1]), string(error[2])});
        }
        return details;
    }

    void job_waits(Fields fields) {
        const auto* queue = machine_.jobs().queues().find(string(fields[0]));
        auto* state = queue == nullptr
                          ? nullptr
                          : detail::JobTable::find(*queue, fields[1].as<std::uint32_t>(),
                                                   fields[2].as<std::uint64_t>());
        if (state == nullptr) return;
        auto& details = state->detailed();
        state->run_at = time(fields[3]);
        details.after = ids(fields[4]);
        if (fields.size() > 5) {
            if (fields.size() < 7) throw msgpack::type_error{};
            details.buried_at = time(fields[5]);
            details.add_error(text(fields[6]), time(fields[5]));
        }
        writer_.restored(*state, row_, bytes_, false);
    }

    void job_attempts(Fields fields) {
        const auto* queue = machine_.jobs().queues().find(string(fields[0]));
        auto* state = queue == nullptr
                          ? nullptr
                          : detail::JobTable::find(*queue, fields[1].as<std::uint32_t>(),
                                                   fields[2].as<std::uint64_t>());
        if (state == nullptr) return;
        auto& details = state->detailed();
        const auto before = std::exchange(details.attempts, fields[3].as<std::uint32_t>());
        // The end of an attempt writes a full record. If the full record has fewer attempts, a
        // crash ended the last attempt.
        if (details.attempts != before) details.cut_off = details.attempts > before;
        details.begun = details.begun || details.attempts > 0;
        if (fields.size() > 4 && state->in_order) {
            static_cast<detail::GroupedJob*>(state)->set_position(fields[4].as<std::uint64_t>());
        }
        writer_.restored(*state, row_, 0, false);
    }

    void job_gone(Fields fields) {
        const auto* queue = machine_.jobs().queues().find(string(fields[0]));
        if (queue != nullptr) job_ended(machine_.jobs().find(*queue, text(fields[1])));
    }

    void job_over(Fields fields) {
        const auto* queue = machine_.jobs().queues().find(string(fields[0]));
        if (queue == nullptr) return;
        job_ended(detail::JobTable::find(*queue, fields[1].as<std::uint32_t>(),
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

    static TimerState timer_state(const msgpack::object& field) {
        const auto number = field.as<std::uint8_t>();
        if (number > static_cast<std::uint8_t>(TimerState::dead)) throw msgpack::type_error{};
        return TimerState{number};
    }

    static std::string_view timer_id(const msgpack::object& field) {
        const auto id = text(field);
        if (id.empty() || id.size() > timer_id_length_max) throw msgpack::type_error{};
        return id;
    }

    void timer(Fields fields) {
        const bool has_retries = fields.size() > 4;
        if (has_retries && fields.size() < 8) throw msgpack::type_error{};
        detail::TimerContent content{.payload = text(fields[2])};
        if (has_retries) {
            content.retries_max = fields[6].as<std::uint32_t>();
            content.confirm_within = Duration{fields[7].as<std::int64_t>()};
        }
        auto& state = machine_.timers().restore(string(fields[0]), timer_id(fields[1]), content);
        state.at = time(fields[3]);
        state.state = has_retries ? timer_state(fields[4]) : TimerState::pending;
        if (content.retries_max > 0) state.set_retries(fields[5].as<std::uint32_t>());
        machine_.timers().keep_reason(state, fields.size() > 8 ? text(fields[8]) : "");
        note_full_record(state);
    }

    void timer_moved(Fields fields) {
        auto* state = machine_.timers().find(string(fields[0]), text(fields[1]));
        if (state == nullptr) return;
        state->state = timer_state(fields[2]);
        state->at = time(fields[3]);
        if (state->retries_max() > 0) state->set_retries(fields[4].as<std::uint32_t>());
        machine_.timers().keep_reason(*state, fields.size() > 5 ? text(fields[5]) : "");
        writer_.restored(*state, row_, bytes_, false);
    }

    void timer_gone(Fields fields) {
        auto* state = machine_.timers().find(string(fields[0]), text(fields[1]));
        if (state == nullptr) return;
        writer_.unrestored(*state);
        machine_.timers().unrestore(*state);
    }

    std::string_view changes_;
    std::uint64_t row_;
    detail::Machine& machine_;
    JournalWriter& writer_;
    std::size_t offset_ = 0;
    std::size_t bytes_ = 0;
};

/// Callback for msgpack-c: texts refer to the parsed bytes and are not copied.
bool referenced(msgpack::type::object_type, std::size_t, void*) { return true; }

}  // namespace

Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer) {
    Replay replay{changes, row, machine, writer};
    msgpack::zone zone;  // Memory for parsed lists, reused for each change.
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
        // Thrown by msgpack-c when a value has another type than expected.
    } catch (const msgpack::unpack_error&) {
        // Thrown by msgpack-c for malformed bytes.
    }
    throw Failure{{Errc::corrupted, "the row does not begin with the full record of a batch"}};
}

}  // namespace routemaster::embedded
