/// @file
/// `Entity`, the base of everything that the state machine stores, and `ChangeLog`, the observer of
/// changes.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Base of an object whose state a journal can record. The fields belong to the journal.
struct Entity {
    /// The number of the record type with the entity's full state, as listed in
    /// docs/file-format.md. An entity with a name has its number in its `Record`.
    enum class Kind : std::uint8_t { batch = 7, job = 11, counter = 13, timer = 30 };

    explicit Entity(Kind what) noexcept : kind{what} {}
    Entity(const Entity&) = delete;
    Entity& operator=(const Entity&) = delete;

    /// Links of the list of all entities, sorted by `row`.
    ListHook<Entity> age;
    std::uint64_t row = 0;  ///< The oldest journal row needed to restore the entity; 0: no row.
    /// The newest row of the journal that must be durable before a reply that depends on the
    /// entity.
    std::uint64_t last_row = 0;
    std::uint32_t bytes = 0;  ///< Approximate size of the entity's records in the journal.
    Kind kind;
    bool dirty = false;  ///< The entity's counts changed since they were encoded in the open row.
};

struct BatchState;
struct JobState;
struct OrderingGroup;
struct StoredTimer;

/// Observer of all changes of entities. Its members are called under the lock of the store.
class ChangeLog {
public:
    virtual ~ChangeLog() = default;

    /// Called for entities with a name.
    virtual void changed(Entity& entity) = 0;
    virtual void changed(JobState& job) = 0;
    /// Only the number of a job's attempts changed.
    virtual void attempted(JobState& job) = 0;
    /// One of three changes: the set of jobs that a job waits for, perhaps together with its due
    /// time; only its due time; or the job became BURIED.
    virtual void waits(JobState& job) = 0;
    /// The lease of a PENDING job ended. `job` still has the fence, the number that identifies the
    /// lease.
    virtual void lease_ended(const JobState& job) = 0;
    /// A batch was created, or changed in anything but its messages.
    virtual void changed(BatchState& batch) = 0;
    virtual void died(BatchState& batch) = 0;
    /// A DEAD batch became READY again. Its age and order are new, and its attempts are 0.
    virtual void redelivered(BatchState& batch) = 0;
    /// A timer was posted. The post may have replaced a timer with an equal id.
    virtual void changed(StoredTimer& timer) = 0;
    /// The state, the time or the number of retries of a timer changed.
    virtual void moved(StoredTimer& timer) = 0;
    virtual void appended(std::string_view message, std::span<BatchState* const> batches) = 0;
    /// A count of an entity grew. The function is called often, and only the last value must be
    /// recorded.
    virtual void counted(Entity& entity) = 0;

    /// Called for entities with a name.
    virtual void gone(Entity& entity) = 0;
    virtual void gone(JobState& job) = 0;
    virtual void gone(BatchState& batch) = 0;
    virtual void gone(StoredTimer& timer) = 0;
    /// Jobs of a group were removed without having succeeded. Until this change is durable, a reply
    /// must not contain later jobs of the group.
    virtual void skipped(OrderingGroup& group) = 0;

    // A journal may evict payloads from memory. The functions below throw `Failure` when the
    // journal cannot read an evicted payload.

    /// Whether a job's evicted payload equals `bytes`.
    virtual bool same(const JobState& job, std::string_view bytes) = 0;
    /// Reads a job's evicted payload, and leaves it evicted.
    virtual std::string read(const JobState& job) = 0;
    /// Reads a job's evicted payload back into memory.
    virtual void load(JobState& job) = 0;
    /// Reads the evicted messages of a batch, and leaves them evicted.
    virtual MessageList read(const BatchState& batch) = 0;
};

/// Change log of a store without a journal. It records nothing. Payloads always stay in memory,
/// because only a journal evicts payloads.
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
