#include "http_post.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string_view>
#include <utility>

#include "basic_credentials.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/error.hpp"
#include "shortage.hpp"

namespace routemaster::detail {

namespace {

constexpr std::size_t part_weight = 512;  // Weight of a chunk or frame, in bytes of equal cost.
constexpr const char* too_much = "the receiver sent too many bytes or parts with its answer";

void require(CURLcode code) {
    if (code != CURLE_OK) {
        throw Failure{{Errc::unavailable, std::string{"libcurl: "} + curl_easy_strerror(code)}};
    }
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    require(curl_easy_setopt(handle, option, value));
}

/// Whether a header line names a transfer coding that libcurl would decode. A peer could send a
/// kilobyte of nested codings, whose decoding would take hours. The request accepts no coding, so
/// such a response is rejected.
bool is_compressed(std::string_view line) {
    constexpr std::string_view name = "transfer-encoding:";
    std::string text;
    for (const char c : line) {
        if (c > ' ') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return text.starts_with(name) && text != std::string{name} + "chunked";
}

}  // namespace

HttpPost::HttpPost(const HttpTransportOptions& options, ThisMachine& machine, TurnBudget& budget)
    : options_{options}, machine_{machine}, handle_{curl_easy_init()} {
    if (!handle_) throw Failure{{Errc::unavailable, "libcurl: out of memory"}};
    set_up_headers();
    set_up();
    set_up_answer();
    set_up_tls(budget);
}

void HttpPost::set_up_headers() {
    lines_[user_agent] = "User-Agent: " + options_.user_agent;
    lines_[content_type] = "Content-Type: application/json";
    lines_[expect] = "Expect:";  // An empty header: libcurl then does not wait for 100 Continue.
    for (std::size_t i = 0; i < line_count; ++i) {
        headers_[i].data = lines_[i].data();
        headers_[i].next = i + 1 < line_count ? &headers_[i + 1] : nullptr;
    }
}

void HttpPost::set_up() {
    CURL* const handle = handle_.get();
    // The minimum of libcurl. Most request bodies contain few events and fit.
    constexpr long send_buffer = 16'384;
    set(handle, CURLOPT_PRIVATE, this);
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_HTTPHEADER, headers_.data());
    set(handle, CURLOPT_ERRORBUFFER, error_.data());
    set(handle, CURLOPT_OPENSOCKETFUNCTION, &HttpPost::open_socket);
    set(handle, CURLOPT_OPENSOCKETDATA, this);
    set(handle, CURLOPT_NOSIGNAL, 1L);
    set(handle, CURLOPT_TCP_NODELAY, 1L);
    set(handle, CURLOPT_PROTOCOLS_STR, options_.allow_http ? "http,https" : "https");
    set(handle, CURLOPT_FOLLOWLOCATION, 0L);
    set(handle, CURLOPT_SSL_VERIFYPEER, options_.verify_tls ? 1L : 0L);
    set(handle, CURLOPT_SSL_VERIFYHOST, options_.verify_tls ? 2L : 0L);
    set(handle, CURLOPT_UPLOAD_BUFFERSIZE, send_buffer);
    // Set even if empty. Otherwise libcurl would use proxies from environment variables.
    set(handle, CURLOPT_PROXY, options_.proxy.c_str());
    set(handle, CURLOPT_NOPROXY, "");
    // The resolver has resolved the name before. If libcurl nevertheless starts a lookup, the end
    // of the transfer must not wait for the thread of the lookup, because this would delay all
    // deliveries.
    set(handle, CURLOPT_QUICK_EXIT, 1L);
}

void HttpPost::set_up_answer() {
    CURL* const handle = handle_.get();
    constexpr long receive_buffer = 4'096;  // Responses are short.
    set(handle, CURLOPT_BUFFERSIZE, receive_buffer);
    set(handle, CURLOPT_HEADERFUNCTION, &HttpPost::read_header);
    set(handle, CURLOPT_HEADERDATA, this);
    set(handle, CURLOPT_WRITEFUNCTION, &HttpPost::read_body);
    set(handle, CURLOPT_WRITEDATA, this);
    set(handle, CURLOPT_NOPROGRESS, 0L);
    set(handle, CURLOPT_XFERINFOFUNCTION, &HttpPost::progress);
    set(handle, CURLOPT_XFERINFODATA, this);
}

/// Selects the HTTP version, and thereby the protocols that TLS offers (ALPN). HTTP/2 is selected
/// only if the data can be limited by a `TlsMeter`, because libcurl reads HTTP/2 frames in a loop
/// until one contains data, possibly endlessly.
void HttpPost::set_up_tls(TurnBudget& budget) {
    CURL* const handle = handle_.get();
    static const bool metered = TlsMeter::is_available();
    const bool http2 = options_.http2 && metered;
    const auto version = http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(version));
    if (metered) require(TlsMeter::meter(handle, budget));
}

/// Computes a deadline from a timeout. Deliveries that begin together, for example after a start,
/// and get no response would also time out together, and so would the deliveries after them.
/// Healthy deliveries would wait for all this work. Therefore the deadline is earlier by up to 7 %
/// of the timeout, depending on the id of the batch. Then the deadline is rounded down, by up to 3
/// % of the timeout. Several deliveries thus time out in one iteration of the loop, because each
/// additional iteration may delay a healthy delivery.
HttpPost::Clock::time_point HttpPost::end_of(Duration limit, Clock::time_point now) const {
    const auto share = static_cast<Duration::rep>(std::hash<Uid>{}(request_.batch) % 70);
    const auto slack = std::bit_floor(
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(limit.count() / 32, 1, 512)));
    const auto since = std::chrono::floor<Duration>(now.time_since_epoch()) - request_.has_waited;
    const auto end = since + limit - limit * share / 1'000;
    const Duration rounded{end.count() & ~static_cast<std::int64_t>(slack - 1)};
    return std::max(Clock::time_point{rounded}, now + Duration{1});
}

void HttpPost::begin(PostRequest request) {
    request_ = std::move(request);
    error_[0] = '\0';
    received_ = 0;
    received_head_ = 0;
    parts_ = 0;
    head_ended_ = false;
    socket_ = CURL_SOCKET_BAD;
    uploaded_ = 0;
    turns_ = 0;
    before_.reset();
    refused_answer_.clear();
    refused_.clear();
    tried_ = false;
    no_socket_.clear();
    begin_headers();
    const auto now = Clock::now();
    const std::string& json = request_.body.json;
    // After a shortage of sockets, the connection of this request is closed when it ends, and
    // libcurl closes connections that have been idle for a second.
    constexpr long idle_max = 118;  // libcurl's default, in seconds.
    const bool starved = request_.starves_until.has_value();
    curl_easy_setopt(handle(), CURLOPT_FORBID_REUSE, starved ? 1L : 0L);
    curl_easy_setopt(handle(), CURLOPT_MAXAGE_CONN, starved ? 0L : idle_max);
    curl_easy_setopt(handle(), CURLOPT_POSTFIELDS, json.data());
    curl_easy_setopt(handle(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    answer_deadline_ = end_of(options_.total_timeout, now);
    deadline_ = std::min(end_of(options_.connect_timeout, now), answer_deadline_);
    // libcurl divides this time among the addresses of the host. The time is longer than the time
    // until the deadline, so that `end_overdue` ends the transfer, even if this thread is late.
    // libcurl would end all overdue transfers at once.
    const auto to_connect = std::chrono::ceil<Duration>((deadline_ - now) * 9 / 8);
    curl_easy_setopt(handle(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(to_connect.count()));
    resolve_.data = request_.resolve.data();
    curl_easy_setopt(handle(), CURLOPT_RESOLVE, request_.resolve.empty() ? nullptr : &resolve_);
    curl_easy_setopt(handle(), CURLOPT_CURLU, request_.parsed.get());
}

void HttpPost::begin_headers() {
    const auto age_now = std::max(system_clock().now() - request_.created_at, Duration{0});
    lines_[authorization] = "Authorization: " + basic_credentials(request_.user, "x");
    lines_[batch] = "Routemaster-Batch: " + std::string{request_.batch.text()};
    lines_[attempt] = "Routemaster-Attempt: " + std::to_string(request_.attempt);
    lines_[age] = "Routemaster-Age: " + std::to_string(age_now.count());
    for (std::size_t i = 0; i < line_count; ++i) headers_[i].data = lines_[i].data();
}

bool HttpPost::has_unread() const noexcept {
    pollfd socket{.fd = socket_, .events = POLLIN, .revents = 0};
    return socket_ != CURL_SOCKET_BAD && ::poll(&socket, 1, 0) == 1;
}

bool HttpPost::has_connection() const {
    curl_off_t ready_after = 0;
    curl_easy_getinfo(handle(), CURLINFO_PRETRANSFER_TIME_T, &ready_after);
    return ready_after != 0;
}

bool HttpPost::extend() {
    if (deadline_ == answer_deadline_ || !has_connection()) return false;
    deadline_ = answer_deadline_;
    return true;
}

Error HttpPost::overdue() const {
    if (!has_connection()) {
        const auto limit = std::min(options_.connect_timeout, options_.total_timeout);
        return {Errc::timed_out, "no connection within " + std::to_string(limit.count()) + " ms"};
    }
    const auto limit = std::to_string(options_.total_timeout.count()) + " ms";
    if (received_ == 0) return {Errc::timed_out, "no answer within " + limit};
    return {Errc::timed_out, "the answer was not complete within " + limit};
}

Result<void> HttpPost::outcome(CURLcode code) const {
    if (code != CURLE_OK) return failure(code);
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    if (!head_ended_) return Error{Errc::unavailable, "the answer ends within its headers"};
    if (status >= 200 && status <= 299) return {};
    return Error{Errc::unavailable, "HTTP " + std::to_string(status)};
}

bool HttpPost::is_connecting() const {
    if (!is_busy() || !tried_) return false;
    curl_off_t connected_after = 0;
    curl_easy_getinfo(handle(), CURLINFO_CONNECT_TIME_T, &connected_after);
    return connected_after == 0;
}

/// Unpauses the transfer, which makes libcurl process it at once. For an ended transfer libcurl
/// returns an error, which is harmless.
void HttpPost::nudge() const {
    curl_easy_pause(handle(), CURLPAUSE_RECV);
    curl_easy_pause(handle(), CURLPAUSE_CONT);
}

bool HttpPost::permanent() const {
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    const auto& permanent = options_.permanent_statuses;
    return std::find(permanent.begin(), permanent.end(), status) != permanent.end();
}

bool HttpPost::is_starved() const noexcept { return is_shortage(no_socket_); }

Error HttpPost::failure(CURLcode code) const {
    if (!refused_.empty() && !tried_) {
        return {Errc::invalid, "callback: " + refused_ + " leads back to this machine"};
    }
    if (!refused_answer_.empty()) return {Errc::unavailable, refused_answer_};
    if (no_socket_) return {Errc::unavailable, "no socket: " + no_socket_.message()};
    switch (code) {
        case CURLE_OPERATION_TIMEDOUT: return {Errc::timed_out, problem(code)};
        case CURLE_URL_MALFORMAT: return {Errc::invalid, "callback: " + problem(code)};
        // libcurl also returns this code for a header line longer than about 100 kB.
        case CURLE_OUT_OF_MEMORY:
            return {Errc::unavailable, has_connection()
                                           ? "a header line of the answer is too long, or this "
                                             "process has no memory left"
                                           : problem(code)};
        default: return {Errc::unavailable, problem(code)};
    }
}

std::string HttpPost::problem(CURLcode code) const {
    std::string text = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

void HttpPost::forbid_reuse() const { curl_easy_setopt(handle(), CURLOPT_FORBID_REUSE, 1L); }

/// Aborts the transfer. Without FORBID_REUSE libcurl would keep an HTTP/2 connection open.
void HttpPost::refuse_answer(std::string reason) {
    refused_answer_ = std::move(reason);
    forbid_reuse();
}

bool HttpPost::is_too_long(std::size_t more) {
    received_ += more;
    if (received_ > options_.response_max) {
        refuse_answer("the answer has more than " + std::to_string(options_.response_max) +
                      " bytes");
    } else if (received_head_ > options_.head_max) {
        refuse_answer("the answer has more than " + std::to_string(options_.head_max) +
                      " bytes of headers");
    } else if (static_cast<std::int64_t>(received_ + parts_ * part_weight) > wire_max()) {
        refuse_answer(too_much);
    }
    return !refused_answer_.empty();
}

/// Called by libcurl for each header line: of interim responses, of the response, and of
/// trailers.
std::size_t HttpPost::read_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    constexpr std::size_t line_weight = 64;  // Memory that libcurl allocates per line.
    HttpPost& post = *static_cast<HttpPost*>(self);
    const std::string_view line{bytes, size * count};
    if (line.starts_with("HTTP/")) post.head_ended_ = false;
    if (line == "\r\n" || line == "\n") post.head_ended_ = true;
    post.received_head_ += line.size() + line_weight;
    if (is_compressed(line))
        post.refuse_answer("the answer has a transfer coding other than chunked");
    // A return value other than the number of bytes makes libcurl abort the transfer.
    return post.is_too_long(line.size()) ? 0 : line.size();
}

/// Called by libcurl for each buffer of body bytes, at least once per chunk or frame.
std::size_t HttpPost::read_body(char*, std::size_t size, std::size_t count, void* self) {
    HttpPost& post = *static_cast<HttpPost*>(self);
    ++post.parts_;
    return post.is_too_long(size * count) ? 0 : size * count;
}

/// Called by libcurl in each iteration. Limits the bytes that are passed to no other callback, such
/// as extensions of chunks, frames and TLS records.
int HttpPost::progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded) {
    HttpPost& post = *static_cast<HttpPost*>(self);
    if (!post.exceeds_wire_max(uploaded)) return 0;
    post.refuse_answer(too_much);
    return 1;
}

/// Returns the limit for the bytes on the wire. It suffices for a response of `response_max` bytes
/// in records, chunks or packets of 512 bytes, and for an HTTP/2 window update per KiB of the
/// request body.
std::int64_t HttpPost::wire_max() const noexcept {
    constexpr std::size_t beginning = 524'288;  // For the TLS handshake and session tickets.
    constexpr std::size_t largest = std::size_t{1} << 40U;
    return static_cast<std::int64_t>(beginning + 4 * std::min(options_.response_max, largest) +
                                     2 * request_.body.json.size());
}

/// With TLS, the meter of the connection counts. Without TLS, counts the bytes received by the
/// socket, plus a weight per call of libcurl, in every eighth call. libcurl reads at most about 400
/// kB per call, and a normal response in a few calls.
bool HttpPost::exceeds_wire_max(curl_off_t uploaded) {
    constexpr std::int64_t turns_between_looks = 8;
    if (auto meter = TlsMeter::of(handle())) {
        if (!share_ || !share_->is_of(meter)) share_.emplace(std::move(meter), wire_max());
        return share_->is_exceeded();
    }
    if (std::exchange(uploaded_, uploaded) != uploaded) return false;
    if (++turns_ % turns_between_looks != 0) return false;
    const auto received = received_by_socket();
    if (!received) return false;
    if (!before_) before_ = *received;
    return static_cast<std::int64_t>(*received - *before_) + turns_ * TlsMeter::read_weight >
           wire_max();
}

std::optional<std::uint64_t> HttpPost::received_by_socket() const {
    if (socket_ == CURL_SOCKET_BAD) return std::nullopt;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    return info.tcpi_bytes_received;
}

curl_socket_t HttpPost::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    HttpPost& post = *static_cast<HttpPost*>(self);
    const HttpTransportOptions& options = post.options_;
    // With a proxy, `address` is the address of the proxy, which the operator has configured.
    if (!options.allow_loopback && options.proxy.empty() && post.machine_.has(address->addr)) {
        post.refused_ = address_text(address->addr);
        return CURL_SOCKET_BAD;
    }
    post.tried_ = true;
    const int socket =
        ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (socket < 0) {
        post.no_socket_ = {errno, std::generic_category()};
        return CURL_SOCKET_BAD;
    }
    return socket;
}

}  // namespace routemaster::detail
