/// @file
/// The memory budget of all responses together.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace routemaster::detail {

/// Counts the bytes of responses that clients have not read yet. Thread safe.
class AnswerBudget {
public:
    explicit AnswerBudget(std::size_t bytes_max) noexcept : bytes_max_{bytes_max} {}

    /// Reserves `bytes`. Returns false without reserving if the budget would be exceeded. While
    /// nothing is reserved, a response of any size fits.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        const auto before = used_.fetch_add(bytes, std::memory_order_relaxed);
        if (before == 0 || (bytes <= bytes_max_ && before <= bytes_max_ - bytes)) return true;
        release(bytes);
        return false;
    }

    /// Reserves `bytes` even beyond the budget.
    void take_anyway(std::size_t bytes) noexcept {
        used_.fetch_add(bytes, std::memory_order_relaxed);
    }

    void release(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

    /// Whether more than half of the budget is used.
    [[nodiscard]] bool scarce() const noexcept {
        return used_.load(std::memory_order_relaxed) > bytes_max_ / 2;
    }

private:
    const std::size_t bytes_max_;
    std::atomic<std::size_t> used_{0};
};

/// The bytes reserved for a response, from construction to destruction. Shares ownership of the
/// budget, because a handler may respond after the server is destroyed.
///
/// Thread safety: a value.
class AnswerMemory {
public:
    AnswerMemory() = default;
    /// Owns `bytes`, which must have been reserved in `budget`.
    AnswerMemory(std::shared_ptr<AnswerBudget> budget, std::size_t bytes) noexcept
        : budget_{std::move(budget)}, bytes_{bytes} {}
    AnswerMemory(AnswerMemory&& other) noexcept
        : budget_{std::move(other.budget_)}, bytes_{std::exchange(other.bytes_, 0)} {}
    AnswerMemory& operator=(AnswerMemory&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~AnswerMemory() {
        if (budget_) budget_->release(bytes_);
    }

    [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }

private:
    std::shared_ptr<AnswerBudget> budget_;
    std::size_t bytes_ = 0;
};

}  // namespace routemaster::detail
