/// @file
/// `ApiToken`: a credential for the HTTP API, or for a `Publisher`.

#pragma once

#include <string>

namespace routemaster {

/// A credential and the name of its owner.
struct ApiToken {
    std::string token;
    std::string name;
    friend bool operator==(const ApiToken&, const ApiToken&) = default;
};

}  // namespace routemaster
