/// @file
/// A store whose wake-ups all get lost.

#pragma once

#include <functional>
#include <string>

#include "routemaster/store.hpp"

namespace routemaster::test {

/// Passes steps to another store, and swallows watches. Thread safety: as the store behind it.
class SleepyStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    [[nodiscard]] Watch watch(const std::string&, std::function<void()>) override { return {}; }
};

}  // namespace routemaster::test
