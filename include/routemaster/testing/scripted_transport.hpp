/// @file
/// `ScriptedTransport`: a transport for tests, which records deliveries, and completes them as the
/// test specifies.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::testing {

/// Transport that serves every callback. While the script has entries, `deliver` completes each
/// delivery with the next entry. Then deliveries stay in flight until the test calls `answer`.
///
/// Thread safety: all members may be called from any thread.
class ScriptedTransport final : public Transport {
public:
    /// Appends results to the script, one per delivery.
    void script(std::vector<Result<void>> answers) {
        const std::lock_guard lock{mutex_};
        for (auto& answer : answers) script_.push_back(std::move(answer));
    }

    [[nodiscard]] bool serves(std::string_view) const override { return true; }

    /// Sets the names of the reachable callbacks in this process. All URLs are reachable, too.
    void reach(std::vector<std::string> callbacks) {
        const std::lock_guard lock{mutex_};
        destinations_ = std::move(callbacks);
        destinations_.emplace_back();
    }

    [[nodiscard]] std::vector<std::string> destinations() const override {
        const std::lock_guard lock{mutex_};
        return destinations_;
    }

    void deliver(Delivery delivery, DeliveryDone done) override {
        std::optional<Result<void>> scripted;
        {
            const std::lock_guard lock{mutex_};
            deliveries_.push_back(std::move(delivery));
            if (script_.empty()) {
                under_way_.push_back(std::move(done));
                return;
            }
            scripted = std::move(script_.front());
            script_.pop_front();
        }
        done({*std::move(scripted), 0});
    }

    /// Completes the oldest delivery in flight. Returns false if no delivery is in
    /// flight.
    bool answer(Result<void> outcome, bool permanent = false) {
        DeliveryDone done;
        {
            const std::lock_guard lock{mutex_};
            if (under_way_.empty()) return false;
            done = std::move(under_way_.front());
            under_way_.pop_front();
        }
        done({.outcome = std::move(outcome), .permanent = permanent});
        return true;
    }

    /// Completes the newest delivery in flight. Returns false if no delivery is in flight.
    bool answer_last(Result<void> outcome) {
        DeliveryDone done;
        {
            const std::lock_guard lock{mutex_};
            if (under_way_.empty()) return false;
            done = std::move(under_way_.back());
            under_way_.pop_back();
        }
        done({std::move(outcome), 0});
        return true;
    }

    /// True: `withdraw` returns false while a delivery is in flight. False, the default: `withdraw`
    /// returns true.
    void refuse_withdrawal(bool refuses) {
        const std::lock_guard lock{mutex_};
        refuses_withdrawal_ = refuses;
    }

    [[nodiscard]] bool withdraw(const Uid&) override {
        const std::lock_guard lock{mutex_};
        return !refuses_withdrawal_ || under_way_.empty();
    }

    /// Sets the return value of `trouble`.
    void set_trouble(std::optional<std::string> trouble) {
        const std::lock_guard lock{mutex_};
        trouble_ = std::move(trouble);
    }

    [[nodiscard]] std::optional<std::string> trouble() const override {
        const std::lock_guard lock{mutex_};
        return trouble_;
    }

    /// Returns all deliveries so far, in order.
    [[nodiscard]] std::vector<Delivery> deliveries() const {
        const std::lock_guard lock{mutex_};
        return deliveries_;
    }

    /// Returns the number of deliveries that wait for `answer`.
    [[nodiscard]] std::size_t under_way() const {
        const std::lock_guard lock{mutex_};
        return under_way_.size();
    }

    /// Decodes the events of a delivery.
    [[nodiscard]] static std::vector<Event> events_of(const Delivery& delivery) {
        std::vector<Event> events;
        for (const auto message : delivery.messages) {
            if (auto event = decode_message(message)) events.push_back(*std::move(event));
        }
        return events;
    }

private:
    mutable std::mutex mutex_;  // Guards the members below.
    std::deque<Result<void>> script_;
    std::deque<DeliveryDone> under_way_;
    std::vector<Delivery> deliveries_;
    std::vector<std::string> destinations_{std::string{}};
    std::optional<std::string> trouble_;
    bool refuses_withdrawal_ = false;
};

}  // namespace routemaster::testing
