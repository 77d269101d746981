/// @file
/// Reply types that several steps use.

#pragma once

#include <cstdint>
#include <string>

namespace routemaster {

/// Success without further data.
struct Done {
    friend bool operator==(Done, Done) = default;
};

/// The reply to a removal.
enum class Removal {
    removed,
    unknown,  ///< Did not exist; nothing was changed.
};

/// The reply to a settlement of a job.
enum class Settlement {
    settled,
    /// The lease has ended: the job was settled before, or its worker was declared dead. Nothing
    /// was changed.
    lease_lost,
    dead,    ///< Settled, and the batch became DEAD. Only a reply to `SettleDelivery`.
    buried,  ///< Settled, and the job was BURIED. Only a reply to `FailJob` and `NackJob`.
};

/// A number of objects, for example of changed timers.
struct Count {
    std::uint64_t value = 0;
    friend bool operator==(Count, Count) = default;
};

/// The numbers of dropped batches and events.
struct Dropped {
    std::uint64_t batches = 0;
    std::uint64_t events = 0;
    friend bool operator==(Dropped, Dropped) = default;
};

/// Query for a page of a list: at most `limit` entries with keys greater than `after`.
struct Page {
    std::string after{};          ///< Empty: from the beginning.
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
};

}  // namespace routemaster
