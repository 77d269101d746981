/// @file
/// The guarantees of every store, as a list of test cases that depends on no test framework.
///
///     for (const auto& test : routemaster::testing::store_conformance()) {
///         test.run({[] { return std::make_unique<MyStore>(); }});  // Throws if the test fails.
///     }
///
/// The cases pass the time to every step, and need no server and no clock. Stores may complete
/// steps inside `submit`, or on a thread of the store. The cases do not test crashes of processes;
/// each store needs separate tests for crashes.
///
/// The cases are in a compiled library: link `routemaster::conformance`.

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

/// Permitted differences between conforming stores. The defaults suit a store in this process.
struct StoreTraits {
    /// Called before counters are read, to make the counters include all steps so far. Empty: the
    /// counters always include them.
    std::function<void(Store&)> flush_counters{};

    Duration timeout{20'000};          ///< Real time within which a wake-up must arrive.
    std::uint64_t seed = 1;            ///< The seed of the random walk.
    std::uint32_t walk_steps = 5'000;  ///< Length of the random walk, in steps.
};

/// Function that opens an empty store. Called once per case; the case destroys the store.
using OpenStore = std::function<std::unique_ptr<Store>()>;

/// A store under test.
struct StoreFixture {
    OpenStore open;
    StoreTraits traits{};
};

/// A test case for one guarantee of every store.
struct StoreCase {
    std::string name;  ///< A sentence.

    /// Returns if the store meets the guarantee. Otherwise throws `ConformanceFailure`, or the
    /// `Failure` of a step.
    std::function<void(const StoreFixture&)> run;
};

/// A violated guarantee. The text contains the position in the suite, the name of the compared
/// value, the expected value, and the actual value.
class ConformanceFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns all cases. Their names are unique. Each case opens a separate store, so the cases may
/// run in any order.
[[nodiscard]] std::vector<StoreCase> store_conformance();

}  // namespace routemaster::testing
