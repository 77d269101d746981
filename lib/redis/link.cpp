#include "link.hpp"

#include <memory>
#include <utility>

#include "link_context.hpp"
#include "link_loop.hpp"

namespace routemaster::redis {

namespace {

LinkContext context(RedisOptions options, std::vector<const Script*> scripts) {
    if (options.addresses.empty()) throw Failure{{Errc::invalid, "addresses: there are none"}};
    if (options.timeout <= Duration::zero()) {
        throw Failure{{Errc::invalid, "timeout: must be positive"}};
    }
    DialOptions dial{.timeout = options.timeout, .waker = std::make_shared<Waker>()};
    if (options.tls) dial.tls = std::make_shared<const Tls>(options.tls_ca_file);
    return {.options = std::move(options), .scripts = std::move(scripts), .dial = std::move(dial)};
}

}  // namespace

struct Link::Impl {
    LinkLoop loop;
};

Link::Link(RedisOptions options, std::vector<const Script*> scripts, std::string channel,
           std::function<void(std::string_view)> heard)
    : impl_{new Impl{LinkLoop{context(std::move(options), std::move(scripts)),
                              {std::move(channel), std::move(heard)}}}} {}

Link::~Link() = default;

void Link::send(std::span<Call> calls) { impl_->loop.send(calls); }

Duration Link::clock_offset() const { return impl_->loop.clock_offset(); }

Result<void> Link::wait_until_connected(Duration patience) {
    return impl_->loop.wait_until_connected(patience);
}

}  // namespace routemaster::redis
