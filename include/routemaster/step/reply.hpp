/// @file
/// What several steps reply.

#pragma once

#include <cstdint>
#include <string>

namespace routemaster {

/// The step was done; there is nothing else to report.
struct Done {
    friend bool operator==(Done, Done) = default;
};

/// What became of a removal.
enum class Removal {
    removed,
    unknown,  ///< There was no such thing; nothing was changed.
};

/// What became of an attempt to settle a job.
enum class Settlement {
    settled,
    lease_lost,  ///< The worker was taken for dead and the job handed on; nothing was changed.
    dead,        ///< Settled, and its batch is DEAD now. `SettleDelivery` alone answers it.
    buried,      ///< Settled, and the job is BURIED now: of `FailJob` and `NackJob`.
};

/// A number of things, named by the step.
struct Count {
    std::uint64_t value = 0;
    friend bool operator==(Count, Count) = default;
};

/// What was dropped.
struct Dropped {
    std::uint64_t batches = 0;
    std::uint64_t events = 0;
    friend bool operator==(Dropped, Dropped) = default;
};

/// Which part of a long list to return: entries whose key is greater than `after`, at most `limit`.
struct Page {
    std::string after{};          ///< Empty: from the beginning.
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
};

}  // namespace routemaster
