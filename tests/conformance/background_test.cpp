/// @file
/// The suite on a store that completes steps and wakes watches from its own thread. The suite must
/// not rely on completions inside `submit`.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "register.hpp"
#include "routemaster/store/completion_thread.hpp"
#include "routemaster/store/memory.hpp"

using namespace routemaster;

namespace {

/// Performs submissions in its own thread, in order.
class BackgroundStore final : public Store {
public:
    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        std::vector<Step> taken{std::make_move_iterator(steps.begin()),
                                std::make_move_iterator(steps.end())};
        const std::lock_guard lock{mutex_};
        waiting_.push_back([this, taken = std::move(taken), now, done = std::move(done)]() mutable {
            store_.submit(taken, now, std::move(done));
        });
        arrived_.notify_one();
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    void run(const std::stop_token& stop) {
        const CompletionThread marked;
        for (;;) {
            std::function<void()> next;
            {
                std::unique_lock lock{mutex_};
                if (!arrived_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
                next = std::move(waiting_.front());
                waiting_.pop_front();
            }
            next();
        }
    }

    MemoryStore store_;
    std::mutex mutex_;  // Guards `waiting_`.
    std::condition_variable_any arrived_;
    std::deque<std::function<void()>> waiting_;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

const test::Conformance background{"memory in the background",
                                   {[] { return std::make_unique<BackgroundStore>(); }}};

}  // namespace
