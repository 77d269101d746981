/// @file
/// Steps for API tokens, the credentials of publishers and subscribers.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routemaster/api_token.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Adds a token, or changes the name of its owner. A repetition changes nothing more.
struct PutToken {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "put_token",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const {
        if (auto checked = check_user_name("token", token); !checked) return checked;
        return check_user_name("name", name);
    }

    std::string token;  ///< Must satisfy `is_user_name`, else `invalid`.
    std::string name;   ///< Must satisfy `is_user_name`, else `invalid`.
};

/// Revokes a token, and removes the subscriber with this token, as `RemoveSubscriber` does. Replies
/// `unknown` if neither exists. A repetition replies `unknown`.
struct RemoveToken {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_token",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// Finds the name of a token's owner. Replies nothing if the token is not valid.
struct FindToken {
    using Reply = std::optional<std::string>;
    static constexpr StepTraits traits{.name = "find_token",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// Lists the valid tokens, in alphabetical order.
struct ListTokens {
    using Reply = std::vector<ApiToken>;
    static constexpr StepTraits traits{.name = "list_tokens",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// The list of the steps for API tokens.
using TokenSteps = StepList<PutToken, RemoveToken, FindToken, ListTokens>;

}  // namespace routemaster
