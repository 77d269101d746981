#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/system/owner_process.hpp"
#include "http_post_loop.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/error.hpp"
#include "routemaster/transport/http.hpp"
#include "target.hpp"

namespace routemaster {

namespace {

Error invalid(std::string text) { return {Errc::invalid, std::move(text)}; }

bool has_scheme(std::string_view url, std::string_view scheme) {
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return url.size() > scheme.size() && std::equal(scheme.begin(), scheme.end(), url.begin(),
                                                    [&](char s, char u) { return same(u, s); });
}

Result<void> check_proxy(const std::string& proxy) {
    if (proxy.empty()) return {};
    const auto target = detail::target_of(proxy);
    if (!target) return invalid("proxy: " + target.error().context());
    if (target->scheme != "http" && target->scheme != "https" && target->scheme != "socks5h") {
        return invalid("proxy: is not http://, https:// or socks5h://");
    }
    if (!target->names_port) return invalid("proxy: names no port");
    return {};
}

HttpTransportOptions checked(HttpTransportOptions options) {
    check(options).value();
    return options;
}

}  // namespace

Result<void> check(const HttpTransportOptions& options) {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    };
    if (options.connect_timeout <= Duration::zero()) {
        return invalid("connect_timeout: must be positive");
    }
    if (options.total_timeout <= Duration::zero()) {
        return invalid("total_timeout: must be positive");
    }
    if (options.in_flight_max == 0) return invalid("in_flight_max: must not be 0");
    if (options.connections_kept_max == 0) return invalid("connections_kept_max: must not be 0");
    for (const int status : options.permanent_statuses) {
        if (status < 300 || status > 599) {
            return invalid("permanent_statuses: each must be 300 to 599");
        }
    }
    if (std::any_of(options.user_agent.begin(), options.user_agent.end(), is_control)) {
        return invalid("user_agent: contains control characters");
    }
    return check_proxy(options.proxy);
}

/// The implementation has two loops, so that deliveries to healthy receivers never wait for
/// unhealthy receivers. The thread of the unhealthy loop has the lowest priority.
struct HttpTransport::Impl {
    using Priority = detail::HttpPostLoop::Priority;

    const detail::OwnerProcess process{"HTTP transport"};

    explicit Impl(const HttpTransportOptions& options)
        : allow_http{options.allow_http},
          healthy{options, Priority::normal},
          unhealthy{options, Priority::lowest} {}

    bool allow_http;
    detail::HttpPostLoop healthy;
    detail::HttpPostLoop unhealthy;
};

HttpTransport::HttpTransport(HttpTransportOptions options)
    : impl_{std::make_unique<Impl>(checked(std::move(options)))} {}

HttpTransport::~HttpTransport() { detail::leave_to_parent(impl_); }

bool HttpTransport::serves(std::string_view callback) const {
    return has_scheme(callback, "https://") ||
           (impl_->allow_http && has_scheme(callback, "http://"));
}

std::optional<std::string> HttpTransport::trouble() const {
    auto trouble = detail::own(impl_).healthy.trouble();
    return trouble ? trouble : impl_->unhealthy.trouble();
}

SpareThread* HttpTransport::spare_thread() { return &detail::own(impl_).healthy; }

void HttpTransport::deliver(Delivery delivery, DeliveryDone done) {
    if (!impl_->process.is_this()) return done({.outcome = impl_->process.refusal()});
    if (!serves(delivery.callback)) {
        done({.outcome = invalid("callback: URL is not HTTPS")});
        return;
    }
    detail::PostRequest request{.url = std::move(delivery.callback),
                                .user = std::move(delivery.uuid),
                                .batch = delivery.batch,
                                .attempt = delivery.attempt,
                                .created_at = delivery.created_at,
                                .messages = std::move(delivery.messages),
                                .done = std::move(done)};
    // The loop for unhealthy receivers encodes the body, because encoding on the calling thread
    // would delay healthy deliveries.
    if (delivery.unhealthy) return impl_->unhealthy.submit(std::move(request));
    try {
        request.body = delivery_body(std::exchange(request.messages, {}));
    } catch (const std::bad_alloc&) {
        return request.done({.outcome = Error{Errc::unavailable, "out of memory"}});
    }
    impl_->healthy.submit(std::move(request));
}

}  // namespace routemaster
