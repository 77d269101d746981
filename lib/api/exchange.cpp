#include "exchange.hpp"

#include "payload.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster::api {
namespace {

constexpr const char* plain_text = "text/plain;charset=utf-8";
constexpr const char* json_type = "application/json";

}  // namespace

std::string_view shown_token(std::string_view token) noexcept {
    const auto name = public_name(token);
    return name.empty() ? withheld : name;
}

std::string shown_callback(std::string_view callback) {
    constexpr std::string_view mark = "://";
    const auto scheme = callback.find(mark);
    if (callback.starts_with(local_scheme)) {
        const auto token = callback.substr(local_scheme.size());
        return std::string{local_scheme}.append(shown_token(token));
    }
    if (scheme == std::string_view::npos) return std::string{withheld};
    const auto tail = callback.find_first_of("/?#\\", scheme + mark.size());
    const bool bare = tail == std::string_view::npos || callback.substr(tail) == "/";
    auto shown = public_url(callback);
    if (!bare) shown.append("/").append(withheld);
    return shown;
}

void Exchange::begin_large(void (*handler)(Exchange&)) {
    context_.large_reads->begin([self = shared_from_this(), handler](LimitedReads::Place place) {
        const auto& reserve = self->request_.reserve_answer;
        if (reserve && !reserve(large_answer_bytes)) return;
        self->place_ = std::move(place);
        handler(*self);
    });
}

void Exchange::let_body_come() { respond_({100, {}, {}, {}}); }

std::string_view Exchange::segment(std::size_t number) const noexcept {
    std::string_view rest = request_.path;
    for (++number; number > 0; --number) {
        const auto begin = rest.find('/');
        if (begin == std::string_view::npos) return {};
        rest.remove_prefix(begin + 1);
    }
    return rest.substr(0, rest.find('/'));
}

void Exchange::answer(int status) { answer_with({status, {}, {}, {}}); }

void Exchange::answer_text(int status, std::string text) {
    answer_with({status, std::move(text), plain_text, {}});
}

void Exchange::answer_json(int status, std::string text) {
    answer_with({status, std::move(text), json_type, {}});
}

void Exchange::answer_with(HttpResponse response) {
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    const auto place = std::move(place_);  // Released after the response is sent.
    respond_(std::move(response));
}

bool Exchange::refuse_fields() {
    const auto checked = check_no_fields(request_.body);
    if (!checked) refuse(checked.error());
    return !checked;
}

void Exchange::refuse(const Error& error) {
    const auto fail = [&](int status, std::string_view kind) {
        HttpResponse response{status, std::string{kind} + ": " + error.context(), plain_text, {}};
        if (status == 503) response.headers.emplace_back("Retry-After", "1");
        answer_with(std::move(response));
    };
    if (error.code() == Errc::invalid) return answer_text(400, error.context());
    if (error.code() == Errc::forbidden || error.code() == Errc::limit_exceeded) {
        return answer_text(403, error.context());
    }
    if (error.code() == Errc::unavailable) return fail(503, "unavailable");
    if (error.code() == Errc::cancelled) return fail(503, "cancelled");
    if (error.code() == Errc::timed_out)
        return fail(504, "timed out; the request may still take effect");
    answer_text(500, shown(error));
}

std::string Exchange::shown(const Error& error) const {
    for (const auto code : {Errc::invalid, Errc::forbidden, Errc::limit_exceeded, Errc::unavailable,
                            Errc::cancelled, Errc::timed_out}) {
        if (error.code() == code) return error.context();
    }
    // An internal error is logged for operators, and hidden from the client.
    context_.faults.log(request_.method + " failed: " + error.message());
    return "internal error";
}

}  // namespace routemaster::api
