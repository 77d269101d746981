#include "routemaster/byte_size.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace routemaster {

Result<std::uint64_t> parse_byte_size(std::string_view text) {
    constexpr std::uint64_t thousand = 1'000;
    constexpr std::uint64_t ki = 1'024;
    using Unit = std::pair<std::string_view, std::uint64_t>;
    constexpr std::array<Unit, 9> units{Unit{"", 1},
                                        {"k", thousand},
                                        {"m", thousand * thousand},
                                        {"g", thousand * thousand * thousand},
                                        {"t", thousand * thousand * thousand * thousand},
                                        {"ki", ki},
                                        {"mi", ki * ki},
                                        {"gi", ki * ki * ki},
                                        {"ti", ki * ki * ki * ki}};
    const Error wrong{
        Errc::invalid,
        "'" + std::string{text} + "' is not a number of bytes, such as 5000000, 5MB or 5MiB"};
    std::uint64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{}) return wrong;
    std::string suffix{parsed.ptr, end};
    for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (suffix.ends_with('b')) suffix.pop_back();
    for (const auto& [unit, bytes] : units) {
        if (suffix != unit) continue;
        if (number > std::numeric_limits<std::uint64_t>::max() / bytes) return wrong;
        return number * bytes;
    }
    return wrong;
}

}  // namespace routemaster
