/// @file
/// `LeaseScene`: the leases of a worker, polled by the test on a manual clock.

#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/jobs/work/lease_loop.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "support/disturbed_store.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

using detail::LeaseLoop;
using detail::LeaseLoopOptions;

/// Records the calls of a `LeaseLoop`.
struct LeaseNotes final : LeaseLoop::Owner {
    using Id = LeaseLoop::Id;

    void acquired(Id id, const Lease& lease) override { under_way[id] = lease.job; }
    void begun(Id id, Outcome outcome) override { beginnings.emplace_back(id, outcome); }
    void begin_again(Id id) override { to_begin_again.push_back(id); }
    void settled(Id id, Settlement settlement) override { settlements[id] = settlement; }
    void unfit(Id id, const Error&) override { unfit_ones.push_back(id); }
    void lost(Id id) override { lost_ones.push_back(id); }

    /// The jobs under way. A job that was acquired twice is contained twice.
    [[nodiscard]] std::vector<std::string> jobs() const {
        std::vector<std::string> all;
        for (const auto& [id, job] : under_way) all.push_back(job);
        return all;
    }

    std::map<Id, std::string> under_way;
    std::vector<std::pair<Id, Outcome>> beginnings;
    std::vector<Id> to_begin_again;
    std::map<Id, Settlement> settlements;
    std::vector<Id> unfit_ones;
    std::vector<Id> lost_ones;
};

/// A worker with a number of slots. Single threaded.
class LoopWorker {
public:
    LoopWorker(Store& store, TimePoint& now, LeaseLoopOptions options, std::size_t slots)
        : now_{now}, slots_{slots}, loop{store, std::move(options), notes} {
        loop.wake_with([this] { woken_ = true; });
    }

    /// Polls at the loop's requested time and after wake-ups.
    void run() {
        for (int polls = 0; std::exchange(woken_, false) || next_ <= now_; ++polls) {
            REQUIRE_MESSAGE(polls < 10'000, "the loop asks to be polled for ever");
            poll();
        }
    }

    void poll() {
        loop.receive(now_);
        next_ = loop.send(slots_ - std::min(slots_, loop.leased()));
    }

    void close(TimePoint deadline) {
        loop.close(deadline);
        woken_ = true;
        run();
    }

    [[nodiscard]] TimePoint next() const { return next_; }
    void wake() { woken_ = true; }

private:
    TimePoint& now_;
    std::size_t slots_;
    bool woken_ = false;
    TimePoint next_ = TimePoint::min();

public:
    LeaseNotes notes;
    LeaseLoop loop;
};

/// A store with a queue `images`, and a worker on it. Single threaded.
struct LeaseScene {
    explicit LeaseScene(std::size_t slots = 10, LeaseLoopOptions options = {})
        : worker{disturbed, now, complete(std::move(options)), slots} {}

    LeaseLoopOptions complete(LeaseLoopOptions options) {
        options.queue = "images";
        options.worker = Uid{scatter(++workers), 0};
        options.log = log.sink();
        return options;
    }

    void push(const std::string& job) { perform(store, PushJob{"images", job, now}, now).value(); }
    void push_many(int count) {
        for (int i = 1; i <= count; ++i) push("job-" + std::to_string(i));
    }

    void run() { worker.run(); }
    void run_for(Duration span) {
        const auto end = now + span;
        for (run(); worker.next() < end; run()) now = worker.next();
        now = end;
        run();
    }

    void ack(LeaseLoop::Id id) {
        worker.loop.settle(id, AckJob{worker.loop.lease(id)});
        worker.wake();
    }

    [[nodiscard]] QueueStatus queue() { return perform(store, CountJobs{"images"}, now).value(); }
    [[nodiscard]] std::vector<std::string> jobs() const { return worker.notes.jobs(); }

    /// The times between steps of type `S`, in milliseconds.
    template <class S>
    [[nodiscard]] std::vector<std::int64_t> waits() {
        const auto times = disturbed.times_of<S>();
        std::vector<std::int64_t> all;
        for (std::size_t i = 1; i < times.size(); ++i) {
            all.push_back((times[i] - times[i - 1]).count());
        }
        return all;
    }

    TimePoint now = from_milliseconds(1'700'000'000'000);
    std::uint64_t workers = 0;
    MemoryStore store;
    DisturbedStore disturbed{store};
    RecordedLog log;
    LoopWorker worker;
};

}  // namespace routemaster::test
