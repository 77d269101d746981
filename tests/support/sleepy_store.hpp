/// @file
/// `SleepyStore`: a store that loses all wake-ups.

#pragma once

#include <functional>
#include <string>

#include "routemaster/store.hpp"

namespace routemaster::test {

/// Passes steps to another store, and ignores watches. Thread safety: as the other store.
class SleepyStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    [[nodiscard]] Watch watch(const std::string&, std::function<void()>) override { return {}; }
};

}  // namespace routemaster::test
