#include "routemaster/server/http_api.hpp"

#include <utility>

#include "access.hpp"
#include "call.hpp"
#include "context.hpp"
#include "routemaster/error.hpp"
#include "routes.hpp"

namespace routemaster {
namespace {

Error invalid(const char* text) { return {Errc::invalid, text}; }

/// The options, when they make sense. Throws `Failure` otherwise.
HttpApiOptions checked(HttpApiOptions options) {
    if (options.root_key.empty()) throw Failure{invalid("root_key: is missing")};
    if (options.root_key.find(':') != std::string::npos) {
        throw Failure{invalid("root_key: must not contain ':', which ends a user name")};
    }
    if (options.topics_max == 0) throw Failure{invalid("topics_max: must be at least 1")};
    if (options.event_rules.urls == UrlRule::http) {
        throw Failure{invalid("event_rules: URLs of events are https or any")};
    }
    if (options.scaling_deadline < Duration{0}) {
        throw Failure{invalid("scaling_deadline: must not be negative")};
    }
    return options;
}

}  // namespace

struct HttpApi::Impl {
    Impl(Store& store, HttpApiOptions options) : context{store, checked(std::move(options))} {}

    /// Finds the route of a request and who asks, then hands it to `handler`, or to the route's.
    void admit(HttpRequest request, HttpResponder respond, api::Handler handler) {
        const auto* route = api::find_route(request.method, request.path);
        const auto call =
            std::make_shared<api::Call>(context, std::move(request), std::move(respond));
        if (route == nullptr) return call->answer_text(404, {});
        api::admit(*call, route->access, handler == nullptr ? route->handler : handler);
    }

    api::Context context;
};

HttpApi::HttpApi(Store& store, HttpApiOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

HttpApi::~HttpApi() = default;

void HttpApi::handle(HttpRequest request, HttpResponder respond) {
    impl_->admit(std::move(request), std::move(respond), nullptr);
}

void HttpApi::admit(HttpRequest head, HttpResponder respond) {
    impl_->admit(std::move(head), std::move(respond),
                 [](api::Call& call) { call.let_body_come(); });
}

}  // namespace routemaster
