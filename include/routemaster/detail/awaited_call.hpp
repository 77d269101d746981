/// @file
/// `AwaitedCall`: the state that a coroutine shares with the call that it awaits.

#pragma once

#include <atomic>
#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace routemaster::detail {

using Executor = std::function<void(std::function<void()>)>;

/// Shared state of one awaited call, from its start to the coroutine's resumption.
///
///     started ──suspend──► suspended ──complete──► completed ──► resumed
///        └──complete──► completed (the coroutine need not be suspended)
///
/// Each phase may change to `abandoned`: the coroutine was destroyed.
template <class Result>
class AwaitedCall : public std::enable_shared_from_this<AwaitedCall<Result>> {
public:
    explicit AwaitedCall(Executor executor) : executor_{std::move(executor)} {}

    /// Returns the `done` of the call. If its last copy is destroyed uncalled, the call completes.
    [[nodiscard]] std::function<void(Result)> start(std::coroutine_handle<> waiting) {
        waiting_ = waiting;
        return [completion = std::make_shared<Completion>(this->shared_from_this())](
                   Result result) { completion->complete(std::move(result)); };
    }

    /// Whether the coroutine stays suspended; false when it may continue at once with the result.
    [[nodiscard]] bool suspend() {
        auto expected = Phase::started;
        if (phase_.compare_exchange_strong(expected, Phase::suspended)) return true;
        if (!executor_) return false;
        resume();
        return true;
    }

    void abandon() noexcept { phase_ = Phase::abandoned; }

    [[nodiscard]] Result take() {
        if (!result_) throw std::future_error{std::future_errc::broken_promise};
        return *std::move(result_);
    }

private:
    enum class Phase { started, suspended, completed, abandoned };

    class Completion {
    public:
        explicit Completion(std::shared_ptr<AwaitedCall> call) : call_{std::move(call)} {}
        Completion(const Completion&) = delete;
        Completion& operator=(const Completion&) = delete;
        ~Completion() { complete(std::nullopt); }

        void complete(std::optional<Result> result) {
            if (const auto call = std::exchange(call_, nullptr)) call->complete(std::move(result));
        }

    private:
        std::shared_ptr<AwaitedCall> call_;
    };

    void complete(std::optional<Result> result) {
        result_ = std::move(result);
        auto before = phase_.load();
        do {
            if (before == Phase::abandoned) return;
        } while (!phase_.compare_exchange_weak(before, Phase::completed));
        if (before == Phase::suspended) resume();
    }

    void resume() {
        if (!executor_) return waiting_.resume();
        executor_([self = this->shared_from_this()] {
            if (self->phase_ != Phase::abandoned) self->waiting_.resume();
        });
    }

    const Executor executor_;
    std::coroutine_handle<> waiting_;
    std::optional<Result> result_;  // Written before `phase_` becomes `completed`.
    std::atomic<Phase> phase_{Phase::started};
};

}  // namespace routemaster::detail
