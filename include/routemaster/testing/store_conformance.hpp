/// @file
/// The guarantees of every store, as a list of cases that depends on no test framework.
///
///     for (const auto& one : routemaster::testing::store_conformance()) {
///         one.run({[] { return std::make_unique<MyStore>(); }});  // throws when it fails
///     }
///
/// The cases pass the time to every step, need no server and no clock, and hold for stores that
/// complete steps inside `submit` as well as on a thread of their own. What happens when a process
/// dies is for each store's own tests.
///
/// They are compiled: link `routemaster::conformance`.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// How conforming stores may differ. The defaults are those of a store in this process.
struct StoreTraits {
    /// Makes the counters include all steps performed so far; called before they are read. Empty:
    /// they always do.
    std::function<void(Store&)> flush_counters{};

    Duration timeout{20'000};          ///< Real time within which a wake-up must arrive.
    std::uint64_t seed = 1;            ///< Of the random walk.
    std::uint32_t walk_steps = 5'000;  ///< Length of the random walk.
};

/// Opens an empty store. Called once for each case, which destroys the store at its end.
using OpenStore = std::function<std::unique_ptr<Store>()>;

/// A store under test.
struct StoreFixture {
    OpenStore open;
    StoreTraits traits{};
};

/// One guarantee that every store gives.
struct StoreCase {
    std::string name;  ///< A sentence.

    /// Returns when the guarantee holds; throws `ConformanceFailure`, or the `Failure` of a step,
    /// when it does not.
    std::function<void(const StoreFixture&)> run;
};

/// A broken guarantee. Its text names the place in the suite, the compared value, what was
/// expected, and what was found.
class ConformanceFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// All cases. Their names are unique; each opens a store of its own, so they run in any order.
[[nodiscard]] std::vector<StoreCase> store_conformance();

}  // namespace routemaster::testing
