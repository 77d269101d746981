#include "routemaster/server/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "core/store/completion_guard.hpp"
#include "core/system/memory_headroom.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "http_server_listener.hpp"
#include "http_server_loop.hpp"
#include "http_server_service.hpp"

namespace routemaster {
namespace {

/// Returns the default limit for bodies, and for responses. It is small enough that neither uses up
/// the memory reserve of a store. The reserve is an eighth of the memory limit, too, and a store
/// without a reserve rejects publications.
std::size_t default_bytes_max() {
    constexpr std::uint64_t bytes = 64U << 20U;
    return static_cast<std::size_t>(std::min(bytes, detail::MemoryLimits{}.lowest() / 8));
}

HttpServerOptions completed(HttpServerOptions options) {
    if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
    for (auto* bytes_max : {&options.buffered_bytes_max, &options.answer_bytes_max}) {
        if (*bytes_max == 0) *bytes_max = default_bytes_max();
    }
    return options;
}

}  // namespace

struct HttpServer::Impl {
    const detail::OwnerProcess process{"HTTP server"};

    Impl(HttpServerOptions options, HttpHandler handler, HttpHandler admission)
        : share{std::move(options), std::move(handler), std::move(admission)},
          listener{share.options.address, share.options.port, share.options.connections_max} {
        detail::Loop::EventQueues queues;
        for (unsigned i = 0; i < share.options.threads; ++i) {
            loops.emplace_back(share, listener);
            queues.push_back(loops.back().queue());
        }
        // The first loop accepts all connections, and distributes them equally among the loops.
        for (auto& loop : loops) loop.start(std::exchange(queues, {}));
    }

    /// Whether the calling thread is inside a handler, where `stop` would be a deadlock.
    [[nodiscard]] bool in_handler() const {
        return share.large_requests.is_served_here() ||
               std::any_of(loops.begin(), loops.end(),
                           [](const auto& loop) { return loop.queue()->is_read_here(); });
    }

    void stop(Duration grace) {
        const std::lock_guard lock{stopping};
        const auto deadline = std::chrono::steady_clock::now() + grace;
        for (auto& loop : loops) loop.queue()->stop(deadline);
        for (auto& loop : loops) loop.join();
        share.large_requests.stop();
        stopped = true;
    }

    detail::ServerShare share;
    detail::Listener listener;
    std::list<detail::Loop> loops;
    std::atomic<bool> stopped{false};  ///< Set when `stop` has finished.
    std::mutex stopping;               ///< Locked during `stop`; a second call waits for the first.
};

HttpServer::HttpServer(HttpServerOptions options, HttpHandler handler, HttpHandler admission)
    : impl_{std::make_unique<Impl>(completed(std::move(options)), std::move(handler),
                                   std::move(admission))} {}

HttpServer::~HttpServer() {
    detail::leave_to_parent(impl_);
    if (impl_ == nullptr) return;
    detail::require_outside(impl_->in_handler(), "HTTP server", "a handler");
    if (!impl_->stopped) detail::require_outside_completion("HTTP server");
    impl_->stop(Duration::zero());
}

std::uint16_t HttpServer::port() const { return detail::own(impl_).listener.port(); }

void HttpServer::stop(Duration grace) {
    auto& impl = detail::own(impl_);
    detail::refuse_stop_in_completion();
    if (impl.in_handler()) {
        throw Failure{{Errc::invalid, "stop: must not be called inside a handler"}};
    }
    impl.stop(grace);
}

}  // namespace routemaster
