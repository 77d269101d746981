#include "script.hpp"

#include <openssl/evp.h>

#include <array>
#include <utility>

namespace routemaster::redis {
namespace {

std::string_view shebang(ScriptKind kind) {
    switch (kind) {
        case ScriptKind::grows: return "#!lua";
        case ScriptKind::frees: return "#!lua flags=allow-oom";
        case ScriptKind::reads: return "#!lua flags=no-writes";
    }
    return {};
}

/// The head of every script. While a cluster slot is migrated, its keys are moved one by one. A
/// script then fails at the first command on an absent key, whether moved or never created. To fail
/// before any change, each script first looks up a key that never exists. `fleet` is 1 for a mixed
/// deployment, 2 for a prefix with a hash tag (the server may then be in a cluster), and 3 for
/// both.
constexpr std::string_view head = R"lua(
local P, now, fleet = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local mixed = fleet == '1' or fleet == '3'
if fleet == '2' or fleet == '3' then
    local found = redis.pcall('EXISTS', P .. 'routemaster:never')
    if type(found) == 'table' and string.find(found.err, 'non local key', 1, true) then
        return redis.error_reply('MOVING the slot is being moved')
    end
end
)lua";

std::string sha1_of(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        hex += digits[digest[i] >> 4U];
        hex += digits[digest[i] & 15U];
    }
    return hex;
}

}  // namespace

ScriptKind script_kind(const StepTraits& traits) {
    if (Changes{traits.changes} == Changes::nothing) return ScriptKind::reads;
    const bool grows = CapacityNeed{traits.needs} != CapacityNeed::none;
    return grows ? ScriptKind::grows : ScriptKind::frees;
}

std::string lazily(std::string_view name, LuaParts parts, std::string_view functions) {
    std::string text = "local function " + std::string{name} + "()\n";
    for (const auto part : parts) text += part;
    return text.append("return ").append(functions).append("\nend\n");
}

std::string as_function(const Script& script) {
    // The source without its first line, the shebang.
    const auto text = std::string_view{script.source}.substr(script.source.find('\n'));
    std::string function = "local function " + std::string{script.name} + "(KEYS, ARGV)";
    return function.append(text).append("\nend\n");
}

Script compose(std::string_view name, ScriptKind kind, LuaParts parts, std::string_view body) {
    std::string text{shebang(kind)};
    text += head;
    for (const auto part : parts) text += part;
    text += body;
    auto sha1 = sha1_of(text);
    return {name, std::move(text), std::move(sha1)};
}

}  // namespace routemaster::redis
