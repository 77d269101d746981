/// @file
/// `HandLeases`: leases of jobs for remote workers, polled by the test on a manual clock.

#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "routemaster/job_leases.hpp"
#include "support/hand_runner.hpp"
#include "support/pool_scene.hpp"

namespace routemaster::test {

/// The result of a request; nothing while the request waits.
template <class T>
using LeaseAnswer = std::shared_ptr<std::optional<Result<T>>>;

template <class T>
auto answer_into(const LeaseAnswer<T>& answer) {
    return [answer](Result<T> result) {
        CHECK_MESSAGE(!answer->has_value(), "answered twice");
        answer->emplace(std::move(result));
    };
}

using Leased = LeaseAnswer<std::vector<LeasedJob>>;

inline std::size_t jobs_in(const Leased& answer) {
    REQUIRE(answer->has_value());
    return (*answer)->value().size();
}

inline LeasedJob only_job(const Leased& answer) {
    REQUIRE(jobs_in(answer) == 1);
    return (*answer)->value().front();
}

inline LeaseName name_of(const LeasedJob& job) {
    return {job.lease.queue, job.lease.id, job.lease.worker, job.lease.fence};
}

/// Leases of a scene, polled by the test.
struct HandLeases {
    explicit HandLeases(JobScene& in, JobLeasesOptions options = {})
        : scene{in}, leases{in.store, complete(std::move(options))} {}

    [[nodiscard]] JobLeasesOptions complete(JobLeasesOptions options) const {
        options.seed = ++scene.pools;
        options.log = scene.log.sink();
        return options;
    }

    void run() { runner.run(scene.clock.now()); }

    void run_for(Duration span) {
        const auto end = scene.clock.now() + span;
        for (run(); runner.next() < end; run()) scene.clock.set(runner.next());
        scene.clock.set(end);
        run();
    }

    Leased lease(LeaseRequest request = {}) {
        if (request.queue.empty()) request.queue = "work";
        const auto answer = std::make_shared<std::optional<Result<std::vector<LeasedJob>>>>();
        leases.lease(std::move(request), answer_into(answer));
        run();
        return answer;
    }

    LeaseAnswer<std::optional<Extension>> ask_to_extend(const LeasedJob& job,
                                                        std::optional<Duration> span = {}) {
        const auto answer = std::make_shared<std::optional<Result<std::optional<Extension>>>>();
        leases.extend(name_of(job), span, answer_into(answer));
        run();
        return answer;
    }

    std::optional<Extension> extend(const LeasedJob& job, std::optional<Duration> span = {}) {
        return ask_to_extend(job, span)->value().value();
    }

    Result<Settlement> settle(const LeasedJob& job, AttemptEnd end = {}) {
        const auto answer = std::make_shared<std::optional<Result<Settlement>>>();
        leases.settle(name_of(job), std::move(end), answer_into(answer));
        run();
        return answer->value();
    }

    void close() {
        leases.close(scene.clock.now());
        runner.wake();
        run();
    }

    JobScene& scene;
    JobLeases leases;
    HandRunner runner{leases};
};

}  // namespace routemaster::test
