#include "routemaster/server/http_server.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "http_server_listener.hpp"
#include "http_server_loop.hpp"
#include "http_server_service.hpp"

namespace routemaster {
namespace {

unsigned threads_of(const HttpServerOptions& options) {
    if (options.threads != 0) return options.threads;
    return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

struct HttpServer::Impl {
    Impl(HttpServerOptions options, HttpHandler handler, HttpHandler admission)
        : share{std::move(options), std::move(handler), std::move(admission)},
          listener{share.options.address, share.options.port, share.options.connections_max} {
        detail::Loop::EventQueues queues;
        for (unsigned i = 0; i < threads_of(share.options); ++i) {
            loops.emplace_back(share, listener);
            queues.push_back(loops.back().queue());
        }
        // One loop accepts for all, so that each serves equally many connections.
        for (auto& loop : loops) loop.start(std::exchange(queues, {}));
    }

    void stop(Duration grace) {
        const std::lock_guard lock{stopping};
        const auto deadline = std::chrono::steady_clock::now() + grace;
        for (auto& loop : loops) loop.queue()->stop(deadline);
        for (auto& loop : loops) loop.join();
    }

    detail::ServerShare share;
    detail::Listener listener;
    std::list<detail::Loop> loops;
    std::mutex stopping;  ///< Locked during `stop`; a second call waits for the first.
};

HttpServer::HttpServer(HttpServerOptions options, HttpHandler handler, HttpHandler admission)
    : impl_{std::make_unique<Impl>(std::move(options), std::move(handler), std::move(admission))} {}

HttpServer::~HttpServer() { stop(Duration::zero()); }

std::uint16_t HttpServer::port() const { return impl_->listener.port(); }

void HttpServer::stop(Duration grace) { impl_->stop(grace); }

}  // namespace routemaster
