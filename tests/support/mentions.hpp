/// @file
/// Searches a text.

#pragma once

#include <string_view>

namespace routemaster::test {

inline bool mentions(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace routemaster::test
