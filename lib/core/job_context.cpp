#include "routemaster/job_context.hpp"

namespace routemaster {

std::stop_token JobContext::stop_token() const {
    const std::lock_guard lock{mutex_};
    if (!source_) {
        source_.emplace();
        if (stop_requested()) source_->request_stop();
    }
    return source_->get_token();
}

void JobContext::request_stop() {
    std::optional<std::stop_source> source;
    {
        const std::lock_guard lock{mutex_};
        stopped_.store(true, std::memory_order_relaxed);
        source = source_;
    }
    // Outside the lock: it runs the callbacks of the handler.
    if (source) source->request_stop();
}

}  // namespace routemaster
