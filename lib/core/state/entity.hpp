/// @file
/// Entities of the state machine, and the interface for notifications of their changes.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Anything whose current state a journal can record. The journal owns the fields.
struct Entity {
    /// The number of its full record, as docs/file-format.md lists them. Entities with a name have
    /// their number in their `Record`.
    enum class Kind : std::uint8_t { batch = 7, job = 11, counter = 13, timer = 30 };

    explicit Entity(Kind what) noexcept : kind{what} {}
    Entity(const Entity&) = delete;
    Entity& operator=(const Entity&) = delete;

    /// Place among all entities, by `row`.
    ListHook<Entity> age;
    std::uint64_t row = 0;  ///< The oldest row needed to restore it; 0: in no journal.
    /// The newest row that must be durable before a reply about the entity.
    std::uint64_t last_row = 0;
    std::uint32_t bytes = 0;  ///< Approximate size of its records in the journal.
    Kind kind;
    bool dirty = false;  ///< Its numbers changed in the open row and are not encoded yet.
};

struct BatchState;
struct JobState;
struct OrderingGroup;
struct StoredTimer;

/// Is notified of each change of an entity. All members are called under the lock of the store.
class ChangeLog {
public:
    virtual ~ChangeLog() = default;

    /// For entities with a name.
    virtual void changed(Entity& entity) = 0;
    virtual void changed(JobState& job) = 0;
    /// Only the number of attempts of a job changed.
    virtual void attempted(JobState& job) = 0;
    /// Only one of these changed: the jobs a job waits for, perhaps with its due time; its due time
    /// alone; or the job became BURIED.
    virtual void waits(JobState& job) = 0;
    /// The lease of a PENDING job ended. The job still has the fence of the lease.
    virtual void lease_ended(const JobState& job) = 0;
    /// A batch began, or changed in anything but its messages.
    virtual void changed(BatchState& batch) = 0;
    virtual void died(BatchState& batch) = 0;
    /// A DEAD batch is READY again, with a new age and order and without attempts.
    virtual void redelivered(BatchState& batch) = 0;
    /// A timer was posted. A timer with its id may have been replaced.
    virtual void changed(StoredTimer& timer) = 0;
    /// State, time or number of retries of a timer changed.
    virtual void moved(StoredTimer& timer) = 0;
    /// A message was appended to each of `batches`.
    virtual void appended(std::string_view message, std::span<BatchState* const> batches) = 0;
    /// A number of an entity grew. Called often: only the last value matters.
    virtual void counted(Entity& entity) = 0;

    /// For entities with a name.
    virtual void gone(Entity& entity) = 0;
    virtual void gone(JobState& job) = 0;
    virtual void gone(BatchState& batch) = 0;
    virtual void gone(StoredTimer& timer) = 0;
    /// Jobs of a group were removed without success.
    virtual void skipped(OrderingGroup& group) = 0;

    // A journal may evict payloads from memory. The functions below throw `Failure` when the
    // journal cannot read a payload.

    /// Whether the evicted payload of a job equals `bytes`.
    virtual bool same(const JobState& job, std::string_view bytes) = 0;
    /// The evicted payload of a job, without making it resident.
    virtual std::string read(const JobState& job) = 0;
    /// Makes the payload of a job resident.
    virtual void load(JobState& job) = 0;
    /// The evicted messages of a batch, without making them resident.
    virtual MessageList read(const BatchState& batch) = 0;
};

/// Keeps no journal, so nothing is ever evicted.
class NoChangeLog final : public ChangeLog {
public:
    void changed(Entity&) override {}
    void changed(JobState&) override {}
    void attempted(JobState&) override {}
    void waits(JobState&) override {}
    void lease_ended(const JobState&) override {}
    void changed(BatchState&) override {}
    void died(BatchState&) override {}
    void redelivered(BatchState&) override {}
    void changed(StoredTimer&) override {}
    void moved(StoredTimer&) override {}
    void appended(std::string_view, std::span<BatchState* const>) override {}
    void counted(Entity&) override {}
    void gone(Entity&) override {}
    void gone(JobState&) override {}
    void gone(BatchState&) override {}
    void gone(StoredTimer&) override {}
    void skipped(OrderingGroup&) override {}
    bool same(const JobState&, std::string_view) override { return false; }
    std::string read(const JobState&) override { return {}; }
    void load(JobState&) override {}
    MessageList read(const BatchState&) override { return {}; }
};

}  // namespace routemaster::detail
