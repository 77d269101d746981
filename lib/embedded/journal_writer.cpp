#include "journal_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "record_fields.hpp"
#include "replay.hpp"

namespace routemaster::embedded {

using detail::BatchState;
using detail::CounterState;
using detail::Entity;
using detail::JobState;
using detail::StoredTimer;

namespace {

/// Limit in bytes for the old entities moved by a row, because no commit may take long. A longer
/// row may move as many bytes as it adds. Otherwise the journal could grow without bound.
constexpr std::uint64_t moved_max = 256U << 10U;

/// While the journal is within its limit, the total size of a row is at most (1 + this) times its
/// own changes.
constexpr std::uint64_t moved_share_max = 7;

/// Encoded size of a uid in the record of an event.
constexpr std::size_t appended_bytes = Uid::length + 1;

std::size_t record_bytes(const StoredTimer& timer) {
    constexpr std::size_t fixed = 32;
    return timer.space.name.size() + timer.id().size() + timer.payload().size() + fixed;
}

std::size_t record_bytes(const JobState& job) {
    constexpr std::size_t fixed = 64;
    return job.queue.name.size() + job.size_with_errors() + fixed;
}

/// When the records of a timer or job take more than this many times the size of a full record, a
/// new full record is written.
constexpr std::size_t records_max = 4;

/// The position of a job in its group. The job must have a group.
std::uint64_t position_of(const JobState& job) {
    return static_cast<const detail::GroupedJob&>(job).position;
}

/// The position of a job minus the position of its due time. Nothing unless the difference fits
/// into one byte.
std::optional<std::uint64_t> behind_due(const JobState& job) {
    constexpr std::uint64_t behind_max = 127;
    const auto due = static_cast<const detail::GroupedJob&>(job).due_position();
    const auto position = position_of(job);
    if (position < due || position > due + behind_max) return std::nullopt;
    return position - due;
}

/// The number of entries in the map at the end of a job's full record, which has rarely used
/// fields. 0: no map.
std::size_t further_fields(const JobState& job) {
    std::size_t entries = job.details == nullptr || job.details->after.empty() ? 0 : 1;
    if (job.batch() != 0) ++entries;
    if (job.queue.has_ids && job.in_order) {
        entries += 1;
        if (job.concurrency() != 1) ++entries;
        if (position_of(job) != 0) ++entries;
    }
    return entries;
}

/// Whether the last attempt of a job is running, or ended with a crash of the process. The full
/// record counts only the earlier attempts. A `job_attempts` record after the full record restores
/// this last attempt.
bool has_open_attempt(const JobState& job) {
    return job.details != nullptr && (job.counted || job.details->cut_off);
}

/// Whether all fields of the details that are not in the map have default values, as in most jobs
/// of a group.
bool has_plain_details(const detail::JobDetails* details) {
    if (details == nullptr) return true;
    static const detail::JobDetails plain;
    const auto& options = details->options;
    return details->attempts == 0 && !details->begun && !details->cancelled &&
           !details->buried_at && !details->failing_since && details->errors.empty() &&
           options.metadata.empty() && options.attempts_max == plain.options.attempts_max &&
           options.priority == plain.options.priority && options.timeout == plain.options.timeout &&
           options.expires_at == plain.options.expires_at && options.key == plain.options.key;
}

std::size_t fields_of(const JobState& job) {
    if (further_fields(job) > 0) return has_plain_details(job.details.get()) ? 6 : 19;
    if (job.details == nullptr) return 5;
    if (job.priority() != 0) return 18;
    if (job.cancelled()) return 17;
    if (!job.details->options.metadata.empty()) return 16;
    return job.has_key() ? 15 : 11;
}

/// A null pointer whose type lists all kinds of entities with a name.
constexpr const detail::NamedTables* all_named = nullptr;

/// Calls `act` with the entity, cast to its own type. Does nothing for an entity without a name.
template <class... State, class Act>
void as_named(const std::tuple<detail::NamedTable<State>&...>*, Entity& entity, Act act) {
    const auto act_if = [&]<class One>(std::type_identity<One>) {
        if (entity.kind == One::record.kind()) act(static_cast<One&>(entity));
    };
    (act_if(std::type_identity<State>{}), ...);
}

}  // namespace

JournalWriter::JournalWriter(std::uint64_t slack_max, std::uint64_t memory_max, RowCache& rows)
    : slack_max_{slack_max}, memory_max_{memory_max}, rows_{rows} {}

// --- Rows ---------------------------------------------------------------------------------------

JournalWriter::Row JournalWriter::close_row(std::uint64_t journal_bytes) {
    for (auto* entity : dirty_) {
        entity->dirty = false;
        encode(*entity);
    }
    dirty_.clear();
    const auto bound =
        small_slack_ ? live_bytes_ + live_bytes_ / 8 + *small_slack_ : 2 * live_bytes_ + slack_max_;
    const bool needs_compaction = journal_bytes > bound;
    auto unread = move_oldest(allowance(journal_bytes, bound));
    const auto number = open_row_++;
    const auto* oldest = by_age_.front();
    const auto needed = oldest == nullptr ? number : oldest->row;
    return {number,           std::exchange(buffer_, {}), needed,
            needs_compaction, std::exchange(ended_, {}),  std::move(unread)};
}

/// How many bytes of old entities to move into the open row. Moving begins before the journal
/// reaches its limit, at first with as many bytes as the row's own changes have. The amount grows
/// as the journal approaches the limit. Thus under a steady load all commits take a similar time.
std::size_t JournalWriter::allowance(std::uint64_t journal_bytes, std::uint64_t bound) const {
    // On a full disk, moves only a little at a time, because moving takes space before it frees
    // space.
    if (small_slack_) return journal_bytes > bound ? std::min(moved_max, *small_slack_) : 0;
    const auto margin = (live_bytes_ + slack_max_) / 4;
    const auto begin = bound - margin;
    if (journal_bytes <= begin) return 0;
    const auto most = std::max<std::uint64_t>(moved_max, buffer_.size());
    if (journal_bytes > bound) return most;
    const auto share = moved_share_max * (journal_bytes - begin) / margin;
    return std::min<std::uint64_t>(most, buffer_.size() * (1 + share));
}

std::optional<Error> JournalWriter::move_oldest(std::size_t bytes) {
    const auto end = buffer_.size() + bytes;
    while (buffer_.size() < end) {
        auto* oldest = by_age_.front();
        if (oldest == nullptr || oldest->row == open_row_) break;
        try {
            make_resident(*oldest);
        } catch (const Failure& failure) {
            return failure.error();
        }
        encode(*oldest);
    }
    return std::nullopt;
}

void JournalWriter::encode(Entity& entity) {
    switch (entity.kind) {
        case Entity::Kind::job: return note(static_cast<JobState&>(entity));
        case Entity::Kind::batch: return note(static_cast<BatchState&>(entity));
        case Entity::Kind::counter: return note(static_cast<CounterState&>(entity));
        case Entity::Kind::timer: return note(static_cast<StoredTimer&>(entity));
    }
    as_named(all_named, entity, [this](auto& state) { note(state); });
}

template <class State>
void JournalWriter::note(State& state) {
    const auto begun = buffer_.size();
    encode(state);
    restored(state, open_row_, buffer_.size() - begun, true);
}

void JournalWriter::restored(Entity& entity, std::uint64_t row, std::size_t bytes,
                             bool full_record) {
    if (full_record) {
        if (entity.row != 0) {
            by_age_.remove(entity);
        } else if (entity.kind == Entity::Kind::job) {
            resident_ += static_cast<JobState&>(entity).payload.size();
        }
        by_age_.push_back(entity);
        live_bytes_ -= entity.bytes;
        entity.bytes = 0;
        entity.row = row;
    }
    entity.bytes += static_cast<std::uint32_t>(bytes);
    live_bytes_ += bytes;
    entity.last_row = row;
}

void JournalWriter::unrestored(Entity& entity) {
    if (entity.kind == Entity::Kind::job) {
        const auto& payload = static_cast<JobState&>(entity).payload;
        if (payload.resident()) resident_ -= payload.size();
    } else if (entity.kind == Entity::Kind::batch) {
        const auto& messages = static_cast<BatchState&>(entity).messages;
        if (messages.resident()) resident_ -= messages.payload_bytes();
    }
    if (entity.row != 0) by_age_.remove(entity);
    entity.row = 0;
    live_bytes_ -= entity.bytes;
    entity.bytes = 0;
    if (entity.dirty) std::erase(dirty_, &entity);
}

void JournalWriter::mark_dirty(Entity& entity) {
    ++encoded_;
    entity.last_row = open_row_;
    if (std::exchange(entity.dirty, true)) return;
    dirty_.push_back(&entity);
}

// --- Changes of each entity ----------------------------------------------------------------------

void JournalWriter::changed(JobState& job) { note(job); }

void JournalWriter::attempted(JobState& job) {
    begin(ChangeKind::job_attempts, job.in_order ? 5 : 4);
    out_.text(job.queue.name);
    out_.natural(job.payload.hash());
    out_.natural(job.order);
    out_.natural(job.attempts());
    if (job.in_order) out_.natural(static_cast<detail::GroupedJob&>(job).position);
    job.last_row = open_row_;
}

/// Records the jobs for which a job waits. If the job was changed often, writes a full record, as
/// in `moved`.
void JournalWriter::waits(JobState& job) {
    if (job.payload.resident() && job.bytes > records_max * record_bytes(job)) return note(job);
    const auto begun = buffer_.size();
    const auto& details = *job.details;
    begin(ChangeKind::job_waits, details.buried_at ? 7 : 5);
    out_.text(job.queue.name);
    out_.natural(job.payload.hash());
    out_.natural(job.order);
    out_.integer(to_milliseconds(job.run_at));
    encode_ids(details.after);
    if (details.buried_at) {
        out_.integer(to_milliseconds(*details.buried_at));
        out_.text(details.errors.back().text);
    }
    restored(job, open_row_, buffer_.size() - begun, false);
}

void JournalWriter::lease_ended(const JobState& job) {
    auto& lease = ended_.emplace_back();
    lease.queue = job.queue.name;
    if (!job.queue.has_ids) lease.job = std::string{job.payload.text()};
    lease.worker = job.worker->uid;
    lease.fence = job.fence;
    lease.id = job.queue.has_ids ? job.order : 0;
    lease.attempt = job.attempts();
}

void JournalWriter::changed(BatchState& batch) {
    if (batch.row == 0 || leaves_memory(batch)) return note(batch);
    begin(ChangeKind::batch_changed, 3);
    out_.text(batch.uid.text());
    out_.integer(batch.attempts);
    out_.boolean(batch.current);
    batch.last_row = open_row_;
}

/// Whether to write a full record of a batch, to make its messages evictable. Messages can be
/// evicted only if a single record has all of them. A batch under delivery is excluded, because it
/// will soon be deleted.
bool JournalWriter::leaves_memory(const BatchState& batch) const {
    const bool under_way = batch.job != nullptr && batch.job->state == JobState::State::pending;
    return over_budget() && !batch.current && !batch.full_record && !under_way;
}

void JournalWriter::died(BatchState& batch) {
    if (leaves_memory(batch)) return note(batch);
    const auto begun = buffer_.size();
    encode_death(batch);
    restored(batch, open_row_, buffer_.size() - begun, false);
}

void JournalWriter::redelivered(BatchState& batch) {
    const auto begun = buffer_.size();
    begin(ChangeKind::batch_redelivered, 3);
    out_.text(batch.uid.text());
    out_.integer(to_milliseconds(batch.created_at));
    out_.natural(batch.order);
    restored(batch, open_row_, buffer_.size() - begun, false);
}

void JournalWriter::appended(std::string_view message, std::span<BatchState* const> batches) {
    begin(ChangeKind::event, 2);
    out_.text(message);
    out_.begin_array(batches.size());
    for (auto* batch : batches) {
        out_.text(batch->uid.text());
        batch->full_record = false;
        resident_ += message.size();
        restored(*batch, open_row_, message.size() + appended_bytes, false);
    }
}

void JournalWriter::changed(StoredTimer& timer) { note(timer); }

/// Records a new state or time of a timer. If the timer was moved often, writes a full record,
/// because the journal needs each change until the next full record.
void JournalWriter::moved(StoredTimer& timer) {
    if (timer.bytes > records_max * record_bytes(timer)) return note(timer);
    const auto begun = buffer_.size();
    const auto reason = timer.space.reason_of(timer);
    begin(ChangeKind::timer_moved, reason.empty() ? 5 : 6);
    out_.text(timer.space.name);
    out_.text(timer.id());
    out_.integer(static_cast<std::int64_t>(timer.state));
    out_.integer(to_milliseconds(timer.at));
    out_.natural(timer.retries());
    if (!reason.empty()) out_.text(reason);
    restored(timer, open_row_, buffer_.size() - begun, false);
}

void JournalWriter::gone(Entity& entity) {
    as_named(all_named, entity, [this](auto& state) {
        begin(state.record.gone, 1);
        out_.text(state.name());
        unrestored(state);
    });
}

void JournalWriter::gone(JobState& job) {
    begin(ChangeKind::job_over, 3);
    out_.text(job.queue.name);
    out_.natural(job.payload.hash());
    out_.natural(job.order);
    unrestored(job);
}

void JournalWriter::gone(BatchState& batch) {
    begin(ChangeKind::batch_gone, 1);
    out_.text(batch.uid.text());
    unrestored(batch);
}

void JournalWriter::gone(StoredTimer& timer) {
    begin(ChangeKind::timer_gone, 2);
    out_.text(timer.space.name);
    out_.text(timer.id());
    unrestored(timer);
}

// --- Eviction of payloads -------------------------------------------------------------------

void JournalWriter::evict(std::uint64_t committed) {
    for (auto* entity = by_age_.back(); entity != nullptr && over_budget();
         entity = by_age_.previous(*entity)) {
        if (entity->row > committed) continue;
        if (entity->row <= evicted_row_) break;
        evict(*entity);
    }
    evicted_row_ = committed;
}

void JournalWriter::evict(Entity& entity) {
    if (entity.kind == Entity::Kind::job) {
        auto& job = static_cast<JobState&>(entity);
        const bool delivers = job.in_order && !job.queue.has_ids;
        if (delivers || job.state == JobState::State::pending) return;
        if (!job.payload.resident()) return;
        job.payload.evict(job.queue.payloads);
        resident_ -= job.payload.size();
    } else if (entity.kind == Entity::Kind::batch) {
        auto& batch = static_cast<BatchState&>(entity);
        if (batch.current || !batch.full_record || !batch.messages.resident()) return;
        batch.messages.evict();
        resident_ -= batch.messages.payload_bytes();
    }
}

bool JournalWriter::same(const JobState& job, std::string_view bytes) {
    return rows_.read(job.row, job.payload.offset(), job.payload.size()) == bytes;
}

std::string JournalWriter::read(const JobState& job) {
    return std::string{rows_.read(job.row, job.payload.offset(), job.payload.size())};
}

void JournalWriter::load(JobState& job) {
    job.payload.load(job.queue.payloads,
                     rows_.read(job.row, job.payload.offset(), job.payload.size()));
    resident_ += job.payload.size();
}

MessageList JournalWriter::read(const BatchState& batch) {
    return messages_of(rows_.read(batch.row, batch.offset));
}

/// Reads the payload of an entity back into memory. The payload must stay in memory until the new
/// row is on disk.
void JournalWriter::make_resident(Entity& entity) {
    if (entity.kind == Entity::Kind::job) {
        auto& job = static_cast<JobState&>(entity);
        if (!job.payload.resident()) load(job);
    } else if (entity.kind == Entity::Kind::batch) {
        auto& batch = static_cast<BatchState&>(entity);
        if (batch.messages.resident()) return;
        batch.messages.load(read(batch));
        resident_ += batch.messages.payload_bytes();
    }
}

// --- Full records -----------------------------------------------------------------------------

void JournalWriter::begin(std::uint8_t number, std::size_t fields) {
    ++encoded_;
    out_.begin_array(fields + 1);
    out_.integer(number);
}

template <class State>
    requires requires { State::record; }
void JournalWriter::encode(const State& state) {
    begin(State::record.whole, State::record.fields);
    out_.text(state.name());
    RecordWriter fields{out_};
    state.write(fields);
}

void JournalWriter::encode(JobState& job) {
    begin(ChangeKind::job, fields_of(job));
    out_.text(job.queue.name);
    out_.text(job.payload.text());
    job.payload.note_offset(static_cast<std::uint32_t>(buffer_.size() - job.payload.size()));
    out_.integer(to_milliseconds(job.run_at));
    out_.natural(job.order);
    const bool delivers = job.in_order && !job.queue.has_ids;
    delivers ? out_.text(job.group()->name) : out_.null();
    const auto further = further_fields(job);
    const bool plain = further > 0 && has_plain_details(job.details.get());
    if (job.details != nullptr && !plain) encode_details(job, further > 0);
    if (further > 0) encode_further(job, further);
    if (has_open_attempt(job)) attempted(job);
}

void JournalWriter::encode_details(const JobState& job, bool all) {
    const auto& details = *job.details;
    out_.natural(details.attempts - (has_open_attempt(job) ? 1U : 0U));
    out_.natural(details.options.attempts_max);
    out_.integer(details.options.timeout.count());
    out_.integer(to_milliseconds(details.options.expires_at));
    details.buried_at ? out_.integer(to_milliseconds(*details.buried_at)) : out_.null();
    out_.begin_array(details.errors.size() + (details.failing_since ? 1 : 0));
    if (details.failing_since) {
        out_.begin_array(3);
        out_.natural(0);
        out_.integer(to_milliseconds(*details.failing_since));
        out_.text({});
    }
    for (const auto& error : details.errors) {
        out_.begin_array(3);
        out_.natural(error.attempt);
        out_.integer(to_milliseconds(error.at));
        out_.text(error.text);
    }
    const auto& key = details.options.key;
    const auto& metadata = details.options.metadata;
    const auto priority = details.options.priority;
    const bool has_last = details.cancelled || priority != 0 || all;
    if (key.text.empty() && metadata.empty() && !has_last) return;
    out_.text(key.text);
    out_.integer(static_cast<int>(key.scope));
    out_.integer(to_milliseconds(key.until));
    out_.boolean(details.begun);
    if (metadata.empty() && !has_last) return;
    out_.begin_array(metadata.size());
    for (const auto& [name, text] : metadata) {
        out_.begin_array(2);
        out_.text(name);
        out_.text(text);
    }
    if (has_last) out_.boolean(details.cancelled);
    if (priority != 0 || all) out_.integer(priority);
}

void JournalWriter::encode_further(const JobState& job, std::size_t entries) {
    out_.begin_map(entries);
    if (job.in_order && job.queue.has_ids) {
        out_.integer(JobField::group);
        out_.text(job.group()->name);
        if (const auto concurrency = job.concurrency(); concurrency != 1) {
            out_.integer(JobField::concurrency);
            out_.natural(concurrency);
        }
        if (const auto position = position_of(job); position != 0) {
            const auto behind = behind_due(job);
            out_.integer(behind ? JobField::behind_due : JobField::position);
            out_.natural(behind.value_or(position));
        }
    }
    if (job.details != nullptr && !job.details->after.empty()) {
        out_.integer(JobField::after);
        encode_ids(job.details->after);
    }
    if (const auto batch = job.batch(); batch != 0) {
        out_.integer(JobField::batch);
        out_.natural(batch);
    }
}

void JournalWriter::encode_ids(const std::vector<JobId>& ids) {
    out_.begin_array(ids.size());
    for (const auto id : ids) out_.natural(id);
}

void JournalWriter::encode(BatchState& batch) {
    batch.offset = static_cast<std::uint32_t>(buffer_.size());
    batch.full_record = true;
    begin(ChangeKind::batch, 7);
    out_.text(batch.uid.text());
    out_.text(batch.subscriber_queue.group.name);
    out_.integer(to_milliseconds(batch.created_at));
    out_.natural(batch.order);
    out_.integer(batch.attempts);
    out_.boolean(batch.current);
    out_.begin_array(batch.messages.size());
    for (const auto message : batch.messages.list()) out_.text(message);
    if (batch.death != nullptr) encode_death(batch);
}

void JournalWriter::encode_death(const BatchState& batch) {
    begin(ChangeKind::batch_dead, 4);
    out_.text(batch.uid.text());
    out_.integer(batch.attempts);
    out_.integer(to_milliseconds(batch.death->at));
    out_.text(batch.death->error);
}

void JournalWriter::encode(const CounterState& counter) {
    begin(ChangeKind::counter, 3);
    out_.text(counter.key.name);
    out_.begin_array(counter.key.tags.size());
    for (const auto& [tag, value] : counter.key.tags) {
        out_.begin_array(2);
        out_.text(tag);
        value ? out_.text(*value) : out_.null();
    }
    out_.integer(counter.value);
}

/// A timer without retries is always PENDING, so its state is not encoded.
void JournalWriter::encode(const StoredTimer& timer) {
    const bool has_retries = timer.retries_max() > 0;
    const auto reason = timer.space.reason_of(timer);
    begin(ChangeKind::timer, !has_retries ? 4 : reason.empty() ? 8 : 9);
    out_.text(timer.space.name);
    out_.text(timer.id());
    out_.text(timer.payload());
    out_.integer(to_milliseconds(timer.at));
    if (!has_retries) return;
    out_.integer(static_cast<std::int64_t>(timer.state));
    out_.natural(timer.retries());
    out_.natural(timer.retries_max());
    out_.integer(timer.confirm_within().count());
    if (!reason.empty()) out_.text(reason);
}

}  // namespace routemaster::embedded
