/// @file
/// Steps about who may ask.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routemaster/step/reply.hpp"

namespace routemaster {

/// A credential and whom it was given to.
struct ApiToken {
    std::string token;
    std::string name;
    friend bool operator==(const ApiToken&, const ApiToken&) = default;
};

/// Makes a token valid, or renames one that is. Repeating it changes nothing more.
struct PutToken {
    using Reply = Done;
    std::string token;  ///< Must satisfy `is_user_name`, else `invalid`.
    std::string name;   ///< Must satisfy `is_user_name`, else `invalid`.
};

/// Makes a token invalid and forgets the subscriber of that name, as `RemoveSubscriber` does.
/// Answers `unknown` when there is neither. Repeating it answers `unknown`.
struct RemoveToken {
    using Reply = Removal;
    std::string token;
};

/// Tells the name that a token was given to; nothing when it is not valid.
struct FindToken {
    using Reply = std::optional<std::string>;
    std::string token;
};

/// Tells the valid tokens, by token.
struct ListTokens {
    using Reply = std::vector<ApiToken>;
    Page page{};
};

}  // namespace routemaster
