#include "posting.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "basic_credentials.hpp"
#include "routemaster/error.hpp"
#include "this_machine.hpp"

namespace routemaster::detail {

namespace {

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(handle, option, value);
    if (code != CURLE_OK) {
        throw Failure{{Errc::unavailable, std::string{"libcurl: "} + curl_easy_strerror(code)}};
    }
}

}  // namespace

Posting::Posting(const HttpTransportOptions& options, SocketWatch& watch)
    : options_{options}, watch_{watch}, handle_{curl_easy_init()} {
    if (!handle_) throw Failure{{Errc::unavailable, "libcurl: out of memory"}};
    set_up_headers();
    set_up();
}

void Posting::set_up_headers() {
    lines_[user_agent] = "User-Agent: " + options_.user_agent;
    lines_[content_type] = "Content-Type: application/json";
    lines_[expect] = "Expect:";  // Without a value: libcurl shall not ask before it sends a body.
    for (std::size_t i = 0; i < line_count; ++i) {
        headers_[i].data = lines_[i].data();
        headers_[i].next = i + 1 < line_count ? &headers_[i + 1] : nullptr;
    }
}

void Posting::set_up() {
    CURL* const handle = handle_.get();
    // Answers are short; uploads beyond a handful of events are few enough for the smallest size.
    constexpr long receive_buffer = 4'096;
    constexpr long send_buffer = 16'384;
    set(handle, CURLOPT_PRIVATE, this);
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_HTTPHEADER, headers_.data());
    set(handle, CURLOPT_ERRORBUFFER, error_.data());
    set(handle, CURLOPT_WRITEFUNCTION, &Posting::write);
    set(handle, CURLOPT_WRITEDATA, this);
    set(handle, CURLOPT_OPENSOCKETFUNCTION, &Posting::open_socket);
    set(handle, CURLOPT_OPENSOCKETDATA, this);
    set(handle, CURLOPT_CLOSESOCKETFUNCTION, &Posting::close_socket);
    set(handle, CURLOPT_CLOSESOCKETDATA, &watch_);
    set(handle, CURLOPT_NOSIGNAL, 1L);
    set(handle, CURLOPT_TCP_NODELAY, 1L);
    set(handle, CURLOPT_PROTOCOLS_STR, options_.allow_http ? "http,https" : "https");
    set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(handle, CURLOPT_FOLLOWLOCATION, 0L);
    set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.total_timeout.count()));
    set(handle, CURLOPT_SSL_VERIFYPEER, options_.verify_tls ? 1L : 0L);
    set(handle, CURLOPT_SSL_VERIFYHOST, options_.verify_tls ? 2L : 0L);
    set(handle, CURLOPT_BUFFERSIZE, receive_buffer);
    set(handle, CURLOPT_UPLOAD_BUFFERSIZE, send_buffer);
    // Otherwise the end of a delivery whose name is still being resolved waits for the resolver,
    // and all others with it.
    set(handle, CURLOPT_QUICK_EXIT, 1L);
}

Result<void> Posting::begin(Submission submission) {
    submission_ = std::move(submission);
    error_[0] = '\0';
    received_ = 0;
    refused_.clear();
    tried_ = false;
    lines_[authorization] = "Authorization: " + basic_credentials(submission_.user, "x");
    headers_[authorization].data = lines_[authorization].data();
    const std::string& json = submission_.body.json;
    curl_easy_setopt(handle(), CURLOPT_POSTFIELDS, json.data());
    curl_easy_setopt(handle(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    const CURLcode code = curl_easy_setopt(handle(), CURLOPT_URL, submission_.url.c_str());
    if (code != CURLE_OK) return failure(code);
    return {};
}

Result<void> Posting::outcome(CURLcode code) const {
    if (code != CURLE_OK) return failure(code);
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status <= 299) return {};
    return Error{Errc::unavailable, "HTTP " + std::to_string(status)};
}

bool Posting::permanent() const {
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    const auto& permanent = options_.permanent_statuses;
    return std::find(permanent.begin(), permanent.end(), status) != permanent.end();
}

Error Posting::failure(CURLcode code) const {
    if (!refused_.empty() && !tried_) {
        return {Errc::invalid, "callback: " + refused_ + " leads back to this machine"};
    }
    switch (code) {
        case CURLE_OPERATION_TIMEDOUT: return {Errc::timed_out, problem(code)};
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL: return {Errc::invalid, "callback: " + problem(code)};
        case CURLE_WRITE_ERROR:
            return {Errc::unavailable,
                    "the answer has more than " + std::to_string(options_.response_max) + " bytes"};
        default: return {Errc::unavailable, problem(code)};
    }
}

std::string Posting::problem(CURLcode code) const {
    std::string text = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

std::size_t Posting::write(char*, std::size_t size, std::size_t count, void* self) {
    Posting& posting = *static_cast<Posting*>(self);
    posting.received_ += size * count;
    // Anything but the number of bytes makes libcurl give up.
    return posting.received_ <= posting.options_.response_max ? size * count : 0;
}

curl_socket_t Posting::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    Posting& posting = *static_cast<Posting*>(self);
    if (!posting.options_.allow_loopback && is_this_machine(address->addr)) {
        posting.refused_ = address_text(address->addr);
        return CURL_SOCKET_BAD;
    }
    posting.tried_ = true;
    const int socket =
        ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (socket < 0) return CURL_SOCKET_BAD;
    posting.watch_.opened(socket);
    return socket;
}

int Posting::close_socket(void* watch, curl_socket_t socket) {
    static_cast<SocketWatch*>(watch)->closed(socket);
    return close(socket);
}

}  // namespace routemaster::detail
