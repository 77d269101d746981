#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "routemaster/store/redis.hpp"

namespace routemaster {

namespace {

constexpr std::uint16_t sentinel_port = 26'379;

/// The error must not contain the URL, which may include a password.
Error invalid(const std::string& why) { return {Errc::invalid, "Redis URL: " + why}; }

std::string quoted(std::string_view text) { return "'" + std::string{text} + "'"; }

/// Removes and returns the text before the first `mark`, or the whole text.
std::string_view take_until(std::string_view& text, char mark) {
    const auto at = text.find(mark);
    const auto head = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return head;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Decodes percent-encoded characters. `what` names the text in the error.
Result<std::string> decoded(std::string_view text, std::string_view what) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        std::uint8_t code = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto* const end = digits.data() + digits.size();
        if (digits.size() < 2 || std::from_chars(digits.data(), end, code, 16).ptr != end) {
            return invalid(std::string{what} + ": '%' must be followed by two hexadecimal digits");
        }
        plain += static_cast<char>(code);
        i += digits.size();
    }
    return plain;
}

/// Parses `host`, `host:port`, `[ipv6]` or `[ipv6]:port`.
Result<RedisAddress> parse_address(std::string_view text, std::uint16_t default_port) {
    std::string_view host;
    std::optional<std::string_view> port;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return invalid("no ']' in " + quoted(text));
        host = text.substr(1, end - 1);
        const auto rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':')
            return invalid("malformed address " + quoted(text));
        if (!rest.empty()) port = rest.substr(1);
    } else {
        auto rest = text;
        host = take_until(rest, ':');
        if (rest.find(':') != std::string_view::npos) {
            return invalid(quoted(text) + ": write an IPv6 address in brackets");
        }
        if (host.size() != text.size()) port = rest;
    }
    auto name = decoded(host, "host");
    if (!name) return name.error();
    if (name->empty()) return invalid("a host is missing");
    if (!port) return RedisAddress{*std::move(name), default_port};
    const auto number_of_port = number<std::uint16_t>(*port);
    if (!number_of_port || *number_of_port == 0) {
        return invalid("the port " + quoted(*port) + " is not a number in 1..65535");
    }
    return RedisAddress{*std::move(name), *number_of_port};
}

Result<void> parse_credentials(std::string_view text, RedisOptions& options) {
    if (text.find(':') == std::string_view::npos) {
        return invalid("write credentials as user:password@ or :password@");
    }
    auto user = decoded(take_until(text, ':'), "user");
    if (!user) return user.error();
    auto password = decoded(text, "password");
    if (!password) return password.error();
    if (password->empty()) return invalid("the password is empty");
    options.user = *std::move(user);
    options.password = *std::move(password);
    return {};
}

Result<void> parse_setting(std::string_view name, const std::string& value, RedisOptions& options) {
    if (name == "prefix") {
        options.prefix = value;
    } else if (name == "ca_file") {
        if (!options.tls) return invalid("ca_file requires rediss://");
        options.tls_ca_file = value;
    } else if (name == "mixed_fleet") {
        if (value != "yes" && value != "no") return invalid("mixed_fleet must be yes or no");
        options.mixed_fleet = value == "yes";
    } else if (name == "event_data_max") {
        const auto bytes = number<std::uint32_t>(value);
        if (!bytes) return invalid("event_data_max " + quoted(value) + " is not a number of bytes");
        options.event_data_max = *bytes;
    } else if (name == "timeout") {
        const auto milliseconds = number<std::uint32_t>(value);
        if (!milliseconds || *milliseconds == 0) {
            return invalid("the timeout " + quoted(value) + " is not a number of milliseconds");
        }
        options.timeout = Duration{*milliseconds};
    } else {
        return invalid("there is no setting " + quoted(name) +
                       ", only prefix, mixed_fleet, event_data_max, timeout and ca_file");
    }
    return {};
}

Result<void> parse_settings(std::string_view text, RedisOptions& options) {
    std::set<std::string> seen;
    while (!text.empty()) {
        auto setting = take_until(text, '&');
        const bool has_value = setting.find('=') != std::string_view::npos;
        const auto name = decoded(take_until(setting, '='), "setting");
        if (!name) return name.error();
        const auto value = decoded(setting, *name);
        if (!value) return value.error();
        if (!has_value) return invalid("the setting " + quoted(*name) + " has no value");
        if (!seen.insert(*name).second) return invalid(quoted(*name) + " is set twice");
        if (auto parsed = parse_setting(*name, *value, options); !parsed) return parsed;
    }
    return {};
}

/// Parses the path behind the hosts: the name of the sentinels' master, if any, and then the
/// database.
Result<void> parse_path(std::string_view path, bool has_sentinels, RedisOptions& options) {
    if (has_sentinels) {
        auto master = decoded(take_until(path, '/'), "master");
        if (!master) return master.error();
        if (master->empty()) return invalid("name the master that the sentinels watch: /NAME");
        options.sentinel_master = *std::move(master);
    }
    if (path.empty()) return {};
    const auto database = number<std::uint32_t>(path);
    if (!database) return invalid("the database " + quoted(path) + " is not a number");
    options.database = *database;
    return {};
}

Result<RedisOptions> parse_parts(std::string_view url) {
    RedisOptions options;
    const auto colon = url.find("://");
    const auto scheme = url.substr(0, colon);
    const bool has_sentinels = scheme.ends_with("+sentinel");
    options.tls = scheme.starts_with("rediss");
    if (colon == std::string_view::npos ||
        (scheme != "redis" && scheme != "rediss" && scheme != "redis+sentinel" &&
         scheme != "rediss+sentinel")) {
        return invalid(
            "begin it with redis://, rediss://, redis+sentinel:// or rediss+sentinel://");
    }
    auto settings = url.substr(colon + 3);
    auto path = take_until(settings, '?');
    auto hosts = take_until(path, '/');
    if (const auto at = hosts.rfind('@'); at != std::string_view::npos) {
        if (auto parsed = parse_credentials(hosts.substr(0, at), options); !parsed) {
            return parsed.error();
        }
        hosts.remove_prefix(at + 1);
    }
    options.addresses.clear();
    const auto default_port = has_sentinels ? sentinel_port : RedisAddress{}.port;
    bool more = true;
    while (more) {
        more = hosts.find(',') != std::string_view::npos;
        auto address = parse_address(take_until(hosts, ','), default_port);
        if (!address) return address.error();
        options.addresses.push_back(*std::move(address));
    }
    if (auto parsed = parse_path(path, has_sentinels, options); !parsed) return parsed.error();
    if (auto parsed = parse_settings(settings, options); !parsed) return parsed.error();
    return options;
}

/// Whether the URL has an @ behind its host part. Then an unescaped `/` or `?` in the password was
/// taken for the end of the hosts.
bool cuts_a_password(std::string_view url) {
    const auto hosts = url.find("://");
    const auto end = hosts == std::string_view::npos ? hosts : url.find_first_of("/?", hosts + 3);
    return end != std::string_view::npos && url.find('@', end) != std::string_view::npos &&
           url.substr(0, end).find('@') == std::string_view::npos;
}

}  // namespace

Result<RedisOptions> parse_redis_url(std::string_view url) {
    auto options = parse_parts(url);
    // The usual error could quote a piece of the password, so another error is returned.
    if (!options && cuts_a_password(url)) {
        return invalid("in a user and a password, write / as %2F and ? as %3F");
    }
    return options;
}

}  // namespace routemaster
