/// @file
/// `ApiTokens`: the credentials of publishers and subscribers.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/api_token.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"

namespace routemaster {

/// Façade for the API tokens of a store. A token is a credential with the name of its owner, and is
/// valid until its removal. The HTTP API, and a `Publisher` that authenticates, accept only valid
/// tokens.
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class ApiTokens {
public:
    /// The store and the clock must outlive this object.
    explicit ApiTokens(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Adds a token, or changes the owner's name of an existing token. `invalid`, naming the field,
    /// when the token or the name does not satisfy `is_user_name`.
    Result<void> put(ApiToken token) const;
    void put(ApiToken token, std::function<void(Result<void>)> done) const;

    /// Revokes a token, and removes the subscriber with this token as `Subscriber::remove` does.
    /// Returns `unknown` when neither the token nor the subscriber exists.
    Result<Removal> remove(std::string token) const;
    void remove(std::string token, std::function<void(Result<Removal>)> done) const;

    /// Returns the name of a token's owner, or nothing when the token is not valid.
    [[nodiscard]] Result<std::optional<std::string>> find(std::string token) const;
    void find(std::string token,
              std::function<void(Result<std::optional<std::string>>)> done) const;

    /// A page of the valid tokens, in alphabetical order.
    [[nodiscard]] Result<std::vector<ApiToken>> list(Page page = {}) const;
    void list(Page page, std::function<void(Result<std::vector<ApiToken>>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
