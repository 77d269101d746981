/// @file
/// `AdmissionControl`: refuses new events and jobs while the store is too full.
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
    Duration interval{1'000};  ///< The time from one measurement to the next.
    Log log{};
};

/// A store in front of another store, for publishers to use: the alternative to `Autodrop`. While
/// the store behind is above its high mark, publications and pushes return `unavailable` (503 over
/// HTTP), and no accepted data is ever lost. All remaining operations pass, and deliveries free
/// space. Below the low mark, publications and pushes are accepted again.
///
/// This object measures the used space once per interval, and adds the bytes accepted since the
/// last measurement. The use therefore exceeds the high mark only by the copies of accepted events
/// for further subscribers. While measurements fail, the last successful measurement counts.
///
/// Thread safety: `submit`, `watch` and `full` may be called from any thread. For the rest, see
/// `Active`.
class AdmissionControl final : public ForwardingStore, public Active {
public:
    /// The store must outlive this object.
    explicit AdmissionControl(Store& store, AdmissionControlOptions options = {});
    ~AdmissionControl() override;
    AdmissionControl(const AdmissionControl&) = delete;
    AdmissionControl& operator=(const AdmissionControl&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;

    /// Whether new events and jobs are refused now.
    [[nodiscard]] bool full() const;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Stops measuring. Whether new events and jobs are refused stays as it is.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
