/// @file
/// Where an active object finds what other threads have for it.

#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace routemaster::detail {

/// Letters from other threads, and the wish to be polled. Thread safe. Shared with those who will
/// write, so it may outlive its reader.
template <class Letter>
class Inbox {
public:
    /// All that has come since the last time.
    struct Mail {
        std::vector<Letter> letters;
        bool woken = false;
    };

    void put(Letter letter) {
        const std::lock_guard lock{mutex_};
        mail_.letters.push_back(std::move(letter));
        if (wake_) wake_();
    }

    void wake() {
        const std::lock_guard lock{mutex_};
        mail_.woken = true;
        if (wake_) wake_();
    }

    [[nodiscard]] Mail take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(mail_, {});
    }

    [[nodiscard]] bool empty() const {
        const std::lock_guard lock{mutex_};
        return mail_.letters.empty() && !mail_.woken;
    }

    /// Calls `wake`, which must not call back, whenever something comes.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock{mutex_};
        wake_ = std::move(wake);
    }

private:
    mutable std::mutex mutex_;  // Guards the two below; held while waking, so no wake comes late.
    Mail mail_;
    std::function<void()> wake_;
};

}  // namespace routemaster::detail
