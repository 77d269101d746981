/// @file
/// The idempotency keys of pushes, with the stored replies.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/state/counters.hpp"
#include "core/state/ending_table.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/idempotency_key.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A push with an idempotency key. Until the time `until`, a repetition of the push gets the stored
/// reply.
struct NamedPush : Entity {
    static constexpr Record record{
        .whole = 36, .gone = 37, .fields = 5, .fields_min = 5, .format = 12};

    NamedPush() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        out.integer(to_milliseconds(until));
        out.natural(fingerprint);
        out.natural(static_cast<std::uint64_t>(reply.outcome));
        out.natural(reply.id);
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        until = from_milliseconds(in.integer());
        fingerprint = in.natural();
        reply.outcome = static_cast<PushOutcome>(in.natural());
        reply.id = in.natural();
    }

    std::string label;  ///< Queue, colon, key. Unambiguous: queue names have no colon.
    TimePoint until{};
    std::uint64_t fingerprint = 0;
    Pushed reply{};
};

/// Table of the idempotency keys of all queues.
///
/// Not thread safe.
class IdempotencyKeys {
public:
    /// `changes` and `counters` must outlive the table.
    IdempotencyKeys(ChangeLog& changes, CounterTable& counters)
        : changes_{changes},
          pushes_{changes, counters, idempotency_keys_max, "jobs.idempotency_keys_forgotten"} {}

    [[nodiscard]] const NamedPush* find(const std::string& queue, const std::string& key,
                                        TimePoint now) {
        return pushes_.find(queue + ':' + key, now);
    }

    void keep(const std::string& queue, const IdempotencyKey& key, const Pushed& reply,
              TimePoint now);

    [[nodiscard]] std::size_t size() const noexcept { return pushes_.size(); }

    [[nodiscard]] NamedTable<NamedPush>& table() noexcept { return pushes_.table(); }
    /// Must be called after the table was restored.
    void settle_restored() { pushes_.settle_restored(); }

private:
    ChangeLog& changes_;
    EndingTable<NamedPush> pushes_;
};

}  // namespace routemaster::detail
