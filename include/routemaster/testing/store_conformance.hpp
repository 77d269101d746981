/// @file
/// The guarantees of every store, as a list of test cases that depends on no test framework.
///
///     for (const auto& test : routemaster::testing::store_conformance()) {
///         test.run({[] { return std::make_unique<MyStore>(); }});  // Throws if the test fails.
///     }
///
/// The cases pass the time to every step, and need no server and no clock. Stores may complete
/// steps inside `submit`, or on their own thread. The cases do not test crashes of processes; each
/// store needs its own tests for crashes.
///
/// The cases are compiled: link `routemaster::conformance`.

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

/// Permitted differences between conforming stores. The defaults fit a store in this process.
struct StoreTraits {
    /// Called before counters are read: makes the counters include all steps so far. Empty: the
    /// counters always do.
    std::function<void(Store&)> flush_counters{};

    Duration timeout{20'000};          ///< Real time within which a wake-up must arrive.
    std::uint64_t seed = 1;            ///< The seed of the random walk.
    std::uint32_t walk_steps = 5'000;  ///< The length of the random walk, in steps.
};

/// Opens an empty store. Called once for each case, which destroys the store at its end.
using OpenStore = std::function<std::unique_ptr<Store>()>;

/// A store under test.
struct StoreFixture {
    OpenStore open;
    StoreTraits traits{};
};

/// A test case for one guarantee of every store.
struct StoreCase {
    std::string name;  ///< A sentence.

    /// Returns if the guarantee is met. Else throws `ConformanceFailure`, or the `Failure` of a
    /// step.
    std::function<void(const StoreFixture&)> run;
};

/// A broken guarantee. The text contains the place in the suite, the name of the compared value,
/// the expected value, and the actual value.
class ConformanceFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// All cases. The names are unique. Each case opens its own store, and so the cases may run in any
/// order.
[[nodiscard]] std::vector<StoreCase> store_conformance();

}  // namespace routemaster::testing
