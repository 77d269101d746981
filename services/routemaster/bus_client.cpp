#include "bus_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "routemaster/error.hpp"
#include "routemaster/printable_text.hpp"
#include "routemaster/public_part.hpp"
#include "table.hpp"

namespace routemaster::service {
namespace {

constexpr long connect_timeout_ms = 5'000;
/// Longer than even an overloaded bus should need for a response.
constexpr long answer_timeout_ms = 60'000;
/// Maximum size of a response. The largest is a list of some thousand subscribers.
constexpr std::size_t answer_max = std::size_t{64} << 20U;

std::size_t collect(char* bytes, std::size_t, std::size_t size, void* into) {
    auto& body = *static_cast<std::string*>(into);
    if (body.size() + size > answer_max) return 0;
    body.append(bytes, size);
    return size;
}

template <class T>
void set(CURL* curl, CURLoption option, T value) {
    if (const auto code = curl_easy_setopt(curl, option, value); code != CURLE_OK) {
        throw Failure{
            Error{Errc::unavailable, std::string{"libcurl: "} + curl_easy_strerror(code)}};
    }
}

/// Extracts the path from `<PATH>; rel="next"` (RFC 8288). The bus sends no other kinds of links.
std::string next_of(std::string_view link) {
    const auto end = link.find('>');
    if (!link.starts_with("</") || end == std::string_view::npos) return {};
    if (link.substr(end) != ">; rel=\"next\"") return {};
    return std::string{link.substr(1, end - 1)};
}

}  // namespace

void declare_bus(CLI::App& app, BusSettings& settings) {
    app.add_option("--bus", settings.bus, "URL of the bus")
        ->type_name("URL")
        ->envname("ROUTEMASTER_BUS")
        ->capture_default_str();
}

CLI::Option* declare_client_token(CLI::App& app, BusSettings& settings) {
    return app.add_option("--token", settings.token, "The token to present")
        ->type_name("TOKEN")
        ->envname("ROUTEMASTER_TOKEN");
}

std::string BusClient::Answer::refusal() const {
    const auto text = printable_text(body);
    if (status == 401) {
        return "the bus answered 401: the key presented (--root-key or --token) is wrong: " + text;
    }
    return "the bus answered " + std::to_string(status) + (text.empty() ? "" : ": " + text);
}

struct BusClient::Impl {
    explicit Impl(const BusSettings& settings) : bus{settings.bus} {
        while (bus.ends_with('/')) bus.pop_back();
        if (curl == nullptr) throw Failure{Error{Errc::unavailable, "libcurl"}};
        headers = curl_slist_append(nullptr, "Content-Type: application/json");
        headers = curl_slist_append(headers, "Expect:");
        set(curl, CURLOPT_HTTPHEADER, headers);
        set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        set(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        set(curl, CURLOPT_USERNAME, settings.token.c_str());
        set(curl, CURLOPT_PASSWORD, "x");
        set(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
        set(curl, CURLOPT_TIMEOUT_MS, answer_timeout_ms);
        set(curl, CURLOPT_NOSIGNAL, 1L);
        set(curl, CURLOPT_WRITEFUNCTION, &collect);
        set(curl, CURLOPT_ERRORBUFFER, problem);
    }
    ~Impl() {
        curl_slist_free_all(headers);
        curl_easy_cleanup(curl);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    std::string bus;
    CURL* curl = curl_easy_init();
    curl_slist* headers = nullptr;
    char problem[CURL_ERROR_SIZE] = "";
};

BusClient::BusClient(const BusSettings& settings) : impl_{std::make_unique<Impl>(settings)} {}
BusClient::~BusClient() = default;

void BusClient::add_header(const std::string& name, const std::string& value) {
    auto* const headers = curl_slist_append(impl_->headers, (name + ": " + value).c_str());
    if (headers == nullptr) throw std::bad_alloc{};
    impl_->headers = headers;
    set(impl_->curl, CURLOPT_HTTPHEADER, headers);
}

Result<BusClient::Answer> BusClient::ask(std::string_view method, const std::string& path,
                                         std::string_view body) {
    auto* const curl = impl_->curl;
    Answer answer;
    impl_->problem[0] = '\0';
    set(curl, CURLOPT_URL, (impl_->bus + path).c_str());
    set(curl, CURLOPT_WRITEDATA, &answer.body);
    // A POST without a body must still send its length, so CURLOPT_POST is set for it.
    // CURLOPT_CUSTOMREQUEST sets the method.
    const bool sends = method == "POST" || !body.empty();
    set(curl, CURLOPT_POST, sends ? 1L : 0L);
    if (sends) {
        set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        set(curl, CURLOPT_POSTFIELDS, body.data());
    } else {
        set(curl, CURLOPT_HTTPGET, 1L);
    }
    const std::string verb{method};
    set(curl, CURLOPT_CUSTOMREQUEST, verb.c_str());
    if (const auto code = curl_easy_perform(curl); code != CURLE_OK) {
        const std::string why =
            impl_->problem[0] != '\0' ? impl_->problem : curl_easy_strerror(code);
        return Error{Errc::unavailable, without_password(impl_->bus) + ": " + why};
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    curl_header* link = nullptr;
    if (curl_easy_header(curl, "Link", 0, CURLH_HEADER, -1, &link) == CURLHE_OK) {
        answer.next = next_of(link->value);
    }
    return answer;
}

BusClient::Answer BusClient::demand(std::string_view method, const std::string& path,
                                    std::string_view body) {
    auto answer = ask(method, path, body).value();
    if (!answer.accepted()) throw std::runtime_error{answer.refusal()};
    return answer;
}

std::string BusClient::encoded(const std::string& text) const {
    const std::unique_ptr<char, decltype(&curl_free)> encoded{
        curl_easy_escape(impl_->curl, text.data(), static_cast<int>(text.size())), &curl_free};
    if (encoded == nullptr) throw std::bad_alloc{};
    return encoded.get();
}

}  // namespace routemaster::service
