/// @file
/// `AdmissionControl`: refuses new events and jobs while the store has no space left.
///
///     measure ──above the high mark──► refuse ──► measure … ──below the low mark──► accept

#pragma once

#include <functional>
#include <memory>
#include <span>

#include "routemaster/active.hpp"
#include "routemaster/capacity.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of an `AdmissionControl`.
struct AdmissionControlOptions {
    CapacityOptions capacity{};
    Duration interval{1'000};  ///< From one measurement to the next.
    Log log{};
};

/// A store in front of another, for publishers to use: the alternative to `Autodrop`. While the
/// other is above its high mark, publications and pushes return `unavailable`, which the HTTP API
/// reports as 503, and nothing that was ever accepted is lost. All other steps pass, so deliveries
/// make space. Below the low mark it accepts everything again.
///
/// Measures every interval how much space the store takes, and counts the bytes accepted since:
/// what arrives between two measurements cannot exceed the mark by more than its copies for further
/// subscribers. While measuring fails, the last measurement counts.
///
/// Thread safety: as a store, all members may be called from any thread; else as `Active` says.
class AdmissionControl final : public ForwardingStore, public Active {
public:
    /// The store must outlive it.
    explicit AdmissionControl(Store& store, AdmissionControlOptions options = {});
    ~AdmissionControl() override;
    AdmissionControl(const AdmissionControl&) = delete;
    AdmissionControl& operator=(const AdmissionControl&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;

    /// Whether new events and jobs are refused now.
    [[nodiscard]] bool full() const;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Measures nothing more; whether it refuses stays as it is.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
