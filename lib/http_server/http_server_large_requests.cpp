#include "http_server_large_requests.hpp"

#include <exception>
#include <string>
#include <utility>

#include "core/system/thread.hpp"
#include "http_server_response.hpp"

namespace routemaster::detail {

namespace {

thread_local const LargeRequests* served_here = nullptr;

}  // namespace

bool call_handler(const HttpHandler& handler, HttpRequest request,
                  const std::shared_ptr<Responder>& responder, Complaints& faults) {
    try {
        handler(std::move(request),
                [responder](HttpResponse response) { responder->answer(std::move(response)); });
        return true;
    } catch (const std::exception& error) {
        faults.log(std::string{"the handler threw: "} + error.what());
    } catch (...) {
        faults.log("the handler threw something that is not an exception");
    }
    responder->answer(own_answer(500, "internal error"));
    return false;
}

bool LargeRequests::add(HttpRequest& request, std::shared_ptr<Responder>& responder) {
    {
        const std::lock_guard lock{mutex_};
        if (threads_.empty() && !stopping_) start();
        if (threads_.empty() || stopping_) return false;
        waiting_.push_back({std::move(request), std::move(responder)});
    }
    changed_.notify_one();
    return true;
}

void LargeRequests::start() {
    try {
        while (threads_.size() < threads_max_) {
            threads_.push_back(start_thread([this] { run(); }));
        }
    } catch (const Failure&) {
        // The error is ignored. The threads that were started suffice. Without any thread, the
        // event loops handle the requests.
    }
}

bool LargeRequests::is_served_here() const noexcept { return served_here == this; }

void LargeRequests::run() {
    served_here = this;
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        try {
            call_handler(handler_, std::move(next.request), next.responder, faults_);
            process_.require_at_return();
        } catch (const std::exception&) {
            // If memory for a response is missing, the responder is destroyed, which sends a 500.
        }
        next.responder.reset();
        lock.lock();
    }
}

void LargeRequests::stop() {
    std::deque<Waiting> dropped;
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        dropped.swap(waiting_);
        threads.swap(threads_);
    }
    changed_.notify_all();
    for (auto& thread : threads) thread.join();
}

}  // namespace routemaster::detail
