/// @file
/// A transport for tests: keeps what it is given, and answers as the test says.

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

namespace routemaster::testing {

/// Serves every callback. Deliveries are answered inside `deliver` by the script while it lasts,
/// else they stay under way until `answer`.
///
/// Thread safety: all members may be called from any thread.
class ScriptedTransport final : public Transport {
public:
    /// Answers the next deliveries, one each, in order.
    void script(std::vector<Result<void>> answers) {
        const std::lock_guard lock{mutex_};
        for (auto& answer : answers) script_.push_back(std::move(answer));
    }

    [[nodiscard]] bool serves(std::string_view) const override { return true; }

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

    /// Answers the delivery that has been under way for longest. False when there is none.
    bool answer(Result<void> outcome, bool permanent = false) {
        DeliveryDone done;
        {
            const std::lock_guard lock{mutex_};
            if (under_way_.empty()) return false;
            done = std::move(under_way_.front());
            under_way_.pop_front();
        }
        done({std::move(outcome), 0, permanent});
        return true;
    }

    /// Everything that was ever given to `deliver`, in order.
    [[nodiscard]] std::vector<Delivery> deliveries() const {
        const std::lock_guard lock{mutex_};
        return deliveries_;
    }

    /// Deliveries that wait for `answer`.
    [[nodiscard]] std::size_t under_way() const {
        const std::lock_guard lock{mutex_};
        return under_way_.size();
    }

    /// The events of a delivery, decoded.
    [[nodiscard]] static std::vector<Event> events_of(const Delivery& delivery) {
        std::vector<Event> events;
        for (const auto message : delivery.messages) {
            if (auto event = decode_message(message)) events.push_back(*std::move(event));
        }
        return events;
    }

private:
    mutable std::mutex mutex_;  // Guards the rest.
    std::deque<Result<void>> script_;
    std::deque<DeliveryDone> under_way_;
    std::vector<Delivery> deliveries_;
};

}  // namespace routemaster::testing
