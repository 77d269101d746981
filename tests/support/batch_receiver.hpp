/// @file
/// `BatchReceiver`: a subscriber's web server. Records batches; a test can make it fail or slow.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::test {

/// Listens on a free port. Responds 204 by default.
///
/// Thread safety: all members may be called from any thread.
class BatchReceiver {
public:
    /// One delivery, accepted or not.
    struct Delivery {
        HttpRequest request;
        std::vector<std::string> urls;  ///< The URLs of its events.
        int status = 0;
    };

    BatchReceiver()
        : server_{{}, [this](HttpRequest request, HttpResponder respond) {
                      take(std::move(request), std::move(respond));
                  }} {}
    ~BatchReceiver() { resume(); }
    BatchReceiver(const BatchReceiver&) = delete;
    BatchReceiver& operator=(const BatchReceiver&) = delete;

    [[nodiscard]] std::string url(const std::string& path = "/events") const {
        return "http://127.0.0.1:" + std::to_string(server_.port()) + path;
    }

    /// Responds to the next deliveries with these statuses, and then with 204 again.
    void answer(std::vector<int> statuses) {
        const std::lock_guard lock{mutex_};
        statuses_.assign(statuses.rbegin(), statuses.rend());
    }

    /// From now on each delivery takes `span`, one at a time.
    void delay_each(std::chrono::milliseconds span) {
        const std::lock_guard lock{mutex_};
        delay_ = span;
    }

    /// Leaves deliveries without a response until `resume`.
    void pause() {
        const std::lock_guard lock{mutex_};
        paused_ = true;
    }

    /// Responds to the waiting deliveries, and to later ones immediately.
    void resume() {
        std::vector<std::function<void()>> waiting;
        {
            const std::lock_guard lock{mutex_};
            paused_ = false;
            waiting.swap(waiting_);
        }
        for (auto& respond : waiting) respond();
    }

    /// Waits for `count` deliveries. Returns false at the timeout.
    [[nodiscard]] bool await_deliveries(std::size_t count) const {
        return await([&] { return deliveries_.size() >= count; });
    }

    /// Waits until an event with this URL has been accepted. Returns false at the timeout.
    [[nodiscard]] bool await_event(const std::string& url) const {
        return await([&] {
            for (const auto& delivery : deliveries_) {
                if (delivery.status != 204) continue;
                for (const auto& each : delivery.urls) {
                    if (each == url) return true;
                }
            }
            return false;
        });
    }

    [[nodiscard]] std::vector<Delivery> deliveries() const {
        const std::lock_guard lock{mutex_};
        return deliveries_;
    }

    /// The URLs of all events in accepted deliveries, in the order of arrival.
    [[nodiscard]] std::vector<std::string> accepted() const {
        const std::lock_guard lock{mutex_};
        std::vector<std::string> urls;
        for (const auto& delivery : deliveries_) {
            if (delivery.status != 204) continue;
            urls.insert(urls.end(), delivery.urls.begin(), delivery.urls.end());
        }
        return urls;
    }

private:
    template <class Condition>
    bool await(Condition condition) const {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{20}, condition);
    }

    static std::vector<std::string> urls_of(const std::string& body) {
        std::vector<std::string> urls;
        const auto batch = parse_json(body).value();
        for (const auto& event : *batch.get_if<Value::Array>()) {
            urls.push_back(*event.find("url")->get_if<std::string>());
        }
        return urls;
    }

    void take(HttpRequest request, HttpResponder respond) {
        auto urls = urls_of(request.body);
        std::unique_lock lock{mutex_};
        int status = 204;
        if (!statuses_.empty()) {
            status = statuses_.back();
            statuses_.pop_back();
        }
        deliveries_.push_back({std::move(request), std::move(urls), status});
        changed_.notify_all();
        if (paused_) {
            waiting_.emplace_back([respond = std::move(respond), status] {
                respond({status, {}, {}, {}});
            });
            return;
        }
        const auto delay = delay_;
        lock.unlock();
        std::this_thread::sleep_for(delay);
        respond({status, {}, {}, {}});
    }

    mutable std::mutex mutex_;  // Guards all members except the server.
    mutable std::condition_variable changed_;
    std::vector<Delivery> deliveries_;
    std::vector<int> statuses_;  // The next one last.
    std::chrono::milliseconds delay_{0};
    bool paused_ = false;
    std::vector<std::function<void()>> waiting_;
    HttpServer server_;
};

}  // namespace routemaster::test
