/// @file
/// `AdmissionControl`: rejects new events and jobs while the store is too full.
///
///     measure ──above the high mark──► reject ──► measure … ──below the low mark──► accept

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

/// Store wrapper that rejects publications and pushes while the wrapped store is too full. It is
/// for publishers, as an alternative to `Autodrop`. Above the high mark, publications and pushes
/// return `unavailable` (503 over HTTP), so no accepted data is dropped. Below the low mark, they
/// are accepted again. All other operations are forwarded, because deliveries free space.
///
/// The used space is measured once per interval. The bytes accepted since then are added. An event
/// counts once, although the store copies it for each subscriber, so the used space can exceed the
/// high mark by these copies. If a measurement fails, the last successful one counts.
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

    /// Whether new events and jobs are rejected now.
    [[nodiscard]] bool full() const;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Stops measuring. Afterwards `full` does not change.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
