/// @file
/// `MemoryStore`: a store in memory, without persistence. It is deterministic, and serves as the
/// readable specification of the steps, and as the oracle in tests of the other stores.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Store that performs each step immediately, on the calling thread, under one mutex. Its data are
/// lost when the process ends. If the process has a memory limit, steps that add data return
/// `unavailable` when less than 64 MiB and less than an eighth of the limit is free. If memory runs
/// out during a step, the step may have changed a part of the state. Then this step and all later
/// steps return `unavailable` ("out of memory").
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
