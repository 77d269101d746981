/// @file
/// The store in memory, which ends with the process. Deterministic: it is the readable
/// specification of the steps, and the oracle that other stores are compared with.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Performs steps at once, in the calling thread, under one lock. Nothing survives the process.
/// When memory runs out in the middle of a step, the store stops: that step may have changed a part
/// of the state, and it and all that follow return `unavailable` ("out of memory").
///
/// Thread safety: all members may be called from any thread.
class MemoryStore final : public Store {
public:
    MemoryStore();
    ~MemoryStore() override;
    MemoryStore(const MemoryStore&) = delete;
    MemoryStore& operator=(const MemoryStore&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
