/// @file
/// `MemoryStore`: a store in memory, which ends with the process. Deterministic: it is the readable
/// specification of the steps, and the oracle for tests of the other stores.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Performs steps at once, in the calling thread, under one lock. No data survive the process.
/// If the process has a memory limit, and less than an eighth of the limit and less than 64 MiB are
/// left, steps that add data return `unavailable`. If memory runs out in the middle of a step, the
/// store stops: the step may have changed a part of the state, and this step and all later steps
/// return `unavailable` ("out of memory").
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
