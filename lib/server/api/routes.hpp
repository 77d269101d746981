/// @file
/// The table of routes.

#pragma once

#include <string_view>

#include "access.hpp"

namespace routemaster::api {

/// One route of the API.
struct Route {
    std::string_view method;
    std::string_view path;  ///< `:name` stands for one segment of any text, which is not empty.
    Access access;
    Handler handler;
};

/// The route of a request; null when there is none. What `GET` answers, `HEAD` answers too.
[[nodiscard]] const Route* find_route(std::string_view method, std::string_view path) noexcept;

}  // namespace routemaster::api
