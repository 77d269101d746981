#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "posting_loop.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/error.hpp"
#include "routemaster/transport/http.hpp"

namespace routemaster {

namespace {

Error invalid(std::string text) { return {Errc::invalid, std::move(text)}; }

bool has_scheme(std::string_view url, std::string_view scheme) {
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return url.size() > scheme.size() && std::equal(scheme.begin(), scheme.end(), url.begin(),
                                                    [&](char s, char u) { return same(u, s); });
}

/// Throws `Failure` that names the first option that makes no sense.
HttpTransportOptions checked(HttpTransportOptions options) {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    };
    if (options.connect_timeout <= Duration::zero()) {
        throw Failure{invalid("connect_timeout: must be positive")};
    }
    if (options.total_timeout <= Duration::zero()) {
        throw Failure{invalid("total_timeout: must be positive")};
    }
    if (options.connections_max == 0) throw Failure{invalid("connections_max: must not be 0")};
    for (const int status : options.permanent_statuses) {
        if (status < 300 || status > 599) {
            throw Failure{invalid("permanent_statuses: must be 300 to 599 each")};
        }
    }
    if (std::any_of(options.user_agent.begin(), options.user_agent.end(), is_control)) {
        throw Failure{invalid("user_agent: contains control characters")};
    }
    return options;
}

}  // namespace

struct HttpTransport::Impl {
    bool allow_http;
    detail::PostingLoop loop;
};

HttpTransport::HttpTransport(HttpTransportOptions options)
    : impl_{new Impl{options.allow_http, detail::PostingLoop{checked(std::move(options))}}} {}

HttpTransport::~HttpTransport() = default;

bool HttpTransport::serves(std::string_view callback) const {
    return has_scheme(callback, "https://") ||
           (impl_->allow_http && has_scheme(callback, "http://"));
}

void HttpTransport::deliver(Delivery delivery, DeliveryDone done) {
    if (!serves(delivery.callback)) {
        done({.outcome = invalid("callback: URL is not HTTPS")});
        return;
    }
    impl_->loop.submit({.url = std::move(delivery.callback),
                        .user = std::move(delivery.uuid),
                        .body = delivery_body(delivery.messages),
                        .done = std::move(done)});
}

}  // namespace routemaster
