/// @file
/// The idle threads of pools and listeners.

#include "core/work/idle_threads.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/jobs/work/pool/handler_table.hpp"
#include "core/jobs/work/pool/job_board.hpp"
#include "core/timers/work/timer_board.hpp"
#include "routemaster/clock.hpp"
#include "support/await.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

constexpr std::size_t count = 4;

/// Lets threads wait, then calls `offer`. Returns true when all threads have work at the same time.
template <class Next, class Offer, class Close>
bool all_begin(Next next, Offer offer, Close close) {
    std::atomic<std::size_t> begun{0};
    std::latch ended{1};
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            while (next()) {
                ++begun;
                ended.wait();
            }
        });
    }
    // Threads that do not wait yet need no wake-up.
    ::usleep(20'000);
    offer();
    const bool all = test::await([&] { return begun == count; });
    close();
    ended.count_down();
    return all;
}

}  // namespace

TEST_CASE("jobs that arrive together begin on all idle threads of a pool") {
    const Handler handler;
    const PublicationOptions publications;
    JobBoard board{1, count, false};
    CHECK(all_begin([&] { return board.next() != nullptr; },
                    [&] {
                        std::vector<AttemptPtr> fresh;
                        for (std::size_t i = 0; i < count; ++i) {
                            fresh.push_back(std::make_shared<Attempt>(
                                0, i, Job{"a", {}}, Lease{}, handler, TimePoint{}, system_clock(),
                                publications));
                        }
                        board.offer(fresh);
                    },
                    [&] { board.close(); }));
}

TEST_CASE("timers that arrive together begin on all idle threads of a listener") {
    TimerBoard board{count};
    CHECK(all_begin([&] { return board.next(std::nullopt).has_value(); },
                    [&] { board.offer(std::vector<FiredTimer>(count)); }, [&] { board.close(); }));
}
