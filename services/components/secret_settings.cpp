#include "components/secret_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace routemaster::service {
namespace {

/// A setting with a secret: its flag without dashes, and its environment variables.
struct Secret {
    std::string_view flag;
    std::array<const char*, 2> variables;
    bool whole;            ///< False for a URL, in which only user and password are secret.
    bool several = false;  ///< The flag is followed by several values.
};

constexpr std::array<Secret, 6> secrets{{
    {"root-key", {"ROUTEMASTER_ROOT_KEY", nullptr}, true},
    {"clients", {"ROUTEMASTER_CLIENTS", nullptr}, true, true},
    {"token", {"ROUTEMASTER_TOKEN", nullptr}, true},
    {"store", {"ROUTEMASTER_STORE", "ROUTEMASTER_REDIS_URL"}, false},
    {"proxy", {"ROUTEMASTER_PROXY", nullptr}, false},
    {"bus", {"ROUTEMASTER_BUS", nullptr}, false},
}};

const Secret* find_secret(std::string_view flag) noexcept {
    const auto* const found =
        std::find_if(secrets.begin(), secrets.end(),
                     [flag](const Secret& secret) { return secret.flag == flag; });
    return found == secrets.end() ? nullptr : found;
}

/// Overwrites a value, except for one character, because the setting must still count as set.
void hide_all(char* text) noexcept {
    const auto length = std::strlen(text);
    if (length == 0) return;
    std::memset(text, '\0', length);
    *text = '*';
}

/// Overwrites user and password in a URL, as `without_password` does.
void hide_password(char* text) noexcept {
    constexpr std::string_view mark = "://";
    const std::string_view url{text};
    const auto scheme = url.find(mark);
    const auto at = url.rfind('@');
    if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme) return;
    std::fill(text + scheme + mark.size(), text + at, '*');
}

void hide(const Secret& secret, char* text) noexcept {
    secret.whole ? hide_all(text) : hide_password(text);
}

}  // namespace

bool is_secret(std::string_view name) noexcept {
    const auto* const secret = find_secret(name);
    return secret != nullptr && secret->whole;
}

void hide_secret_arguments(int argc, char** argv) noexcept {
    const Secret* secret = nullptr;  // The flag to which the next values belong.
    for (int i = 1; i < argc; ++i) {
        const std::string_view word{argv[i]};
        if (!word.starts_with("--")) {
            if (secret != nullptr) hide(*secret, argv[i]);
            if (secret != nullptr && !secret->several) secret = nullptr;
            continue;
        }
        const auto mark = word.find('=');
        secret = find_secret(word.substr(2, mark == std::string_view::npos ? mark : mark - 2));
        if (secret == nullptr || mark == std::string_view::npos) continue;
        hide(*secret, argv[i] + mark + 1);
        secret = nullptr;
    }
}

void hide_secret_variables() noexcept {
    for (const auto& secret : secrets) {
        for (const auto* variable : secret.variables) {
            char* const value = variable == nullptr ? nullptr : std::getenv(variable);
            if (value != nullptr) hide(secret, value);
        }
    }
}

}  // namespace routemaster::service
