/// @file
/// Entities of the state machine, and the interface that is notified when one changes.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/containers/intrusive_list.hpp"
#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Anything whose current state a journal can record. The fields belong to the journal.
struct Entity {
    /// The number of its full record, as docs/file-format.md lists them. Entities that have a name
    /// have theirs in their `Record`.
    enum class Kind : std::uint8_t { batch = 7, job = 11, counter = 13, timer = 30 };

    explicit Entity(Kind what) noexcept : kind{what} {}
    Entity(const Entity&) = delete;
    Entity& operator=(const Entity&) = delete;

    ListHook<Entity> age;        ///< Place among all entities, by the oldest row that is needed.
    std::uint64_t row = 0;       ///< The oldest row needed to restore it; 0: in no journal.
    std::uint64_t last_row = 0;  ///< The newest row that a reply about it waits for.
    std::uint32_t bytes = 0;     ///< About how much of the journal it needs.
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

    /// Of an entity that has a name.
    virtual void changed(Entity& entity) = 0;
    virtual void changed(JobState& job) = 0;
    /// The number of attempts of a job changed, and nothing else of it.
    virtual void attempted(JobState& job) = 0;
    /// What a job waits for changed, and with that its time, or that it is BURIED; or its time
    /// alone. Nothing else.
    virtual void waits(JobState& job) = 0;
    /// The lease under which a job is PENDING, and whose fence it still has, ended.
    virtual void lease_ended(const JobState& job) = 0;
    /// A batch began, or changed in anything but its messages.
    virtual void changed(BatchState& batch) = 0;
    /// A batch became DEAD.
    virtual void died(BatchState& batch) = 0;
    /// A DEAD batch is READY again, with another age and order, and no attempts.
    virtual void redelivered(BatchState& batch) = 0;
    /// A timer was posted, and perhaps replaced another of its id.
    virtual void changed(StoredTimer& timer) = 0;
    /// A timer has another state, time or number of retries.
    virtual void moved(StoredTimer& timer) = 0;
    /// A message was appended to each of `batches`.
    virtual void appended(std::string_view message, std::span<BatchState* const> batches) = 0;
    /// A number of an entity grew. Called often: only the last value matters.
    virtual void counted(Entity& entity) = 0;

    /// Of an entity that has a name.
    virtual void gone(Entity& entity) = 0;
    virtual void gone(JobState& job) = 0;
    virtual void gone(BatchState& batch) = 0;
    virtual void gone(StoredTimer& timer) = 0;
    /// Jobs of a group were removed without being done.
    virtual void skipped(OrderingGroup& group) = 0;

    // A journal may evict payloads from memory. These throw `Failure` when it cannot read one.

    /// Whether the evicted payload of a job consists of these bytes.
    virtual bool same(const JobState& job, std::string_view bytes) = 0;
    /// The evicted payload of a job, without making it resident.
    virtual std::string read(const JobState& job) = 0;
    /// Makes the payload of a job resident.
    virtual void load(JobState& job) = 0;
    /// The messages of a batch that were evicted, without making them resident.
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
