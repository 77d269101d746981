#include "target.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <memory>
#include <string_view>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::detail {

namespace {

Error no_url(CURLUcode code) { return {Errc::invalid, curl_url_strerror(code)}; }

Result<std::string> part(CURLU* url, CURLUPart which, unsigned flags) {
    char* text = nullptr;
    const CURLUcode code = curl_url_get(url, which, &text, flags);
    if (code == CURLUE_NO_PORT) return std::string{};
    if (code != CURLUE_OK) return no_url(code);
    const std::unique_ptr<char, void (*)(void*)> owned{text, &curl_free};
    return std::string{text};
}

bool is_address(const std::string& host) {
    in_addr ipv4{};
    return host.starts_with('[') || inet_pton(AF_INET, host.c_str(), &ipv4) == 1;
}

}  // namespace

Result<Target> target_of(const std::string& url) {
    std::shared_ptr<CURLU> parsed{curl_url(), &curl_url_cleanup};
    if (!parsed) return Error{Errc::unavailable, "libcurl: out of memory"};
    const CURLUcode code =
        curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK) return no_url(code);
    const auto scheme = part(parsed.get(), CURLUPART_SCHEME, 0);
    const auto host = part(parsed.get(), CURLUPART_HOST, CURLU_PUNYCODE);
    const auto named_port = part(parsed.get(), CURLUPART_PORT, 0);
    const auto port = part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
    if (!scheme) return scheme.error();
    if (!host) return host.error();
    if (!port) return port.error();
    return Target{.scheme = *scheme,
                  .host = *host,
                  .port = *port,
                  .names_port = named_port && !named_port->empty(),
                  .is_name = !is_address(*host),
                  .parsed = std::move(parsed)};
}

}  // namespace routemaster::detail
