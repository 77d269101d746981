/// @file
/// What a conformance case is, and what a store brings to it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store.hpp"
#include "routemaster/testing/conformance/scenario.hpp"
#include "routemaster/testing/conformance/traits.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// Opens a store that holds nothing. Called once for each case; what is opened is destroyed at the
/// end of the case.
using OpenStore = std::function<std::unique_ptr<Store>()>;

/// A store under test.
struct StoreFixture {
    OpenStore open;
    StoreTraits traits{};
};

/// One promise that every store keeps.
struct StoreCase {
    std::string name;  ///< A sentence.

    /// Returns when the store keeps the promise; throws `ConformanceFailure`, or the `Failure` of
    /// a step, when it does not.
    std::function<void(const StoreFixture&)> run;
};

/// A list of cases that grows.
///
/// Thread safety: a value.
class StoreCases {
public:
    /// Adds a case, whose `body` acts upon a scenario in a fresh store.
    void operator()(std::string name, void (*body)(Scenario&)) {
        list_.push_back({std::move(name), [body](const StoreFixture& fixture) {
                             const auto store = fixture.open();
                             Scenario scenario{*store, fixture.traits};
                             body(scenario);
                         }});
    }

    /// The cases so far. Leaves none behind.
    [[nodiscard]] std::vector<StoreCase> take() { return std::exchange(list_, {}); }

private:
    std::vector<StoreCase> list_;
};

}  // namespace routemaster::testing
