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
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// The API tokens of a store: each is a credential that is valid until it is removed, with the name
/// of its owner. The HTTP API, and a `Publisher` that authenticates, accept only valid tokens.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class ApiTokens {
public:
    /// The store and the clock must outlive it.
    explicit ApiTokens(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Makes a token valid, or renames a valid one. `invalid`, naming the field, when token or name
    /// do not satisfy `is_user_name`.
    Result<void> put(ApiToken token) const;
    void put(ApiToken token, std::function<void(Result<void>)> done) const;

    /// Makes a token invalid and removes the subscriber of that token as `Subscriber::remove` does.
    /// `unknown` when there is neither.
    Result<Removal> remove(std::string token) const;
    void remove(std::string token, std::function<void(Result<Removal>)> done) const;

    /// The name of a token's owner; nothing when the token is not valid.
    [[nodiscard]] Result<std::optional<std::string>> find(std::string token) const;
    void find(std::string token,
              std::function<void(Result<std::optional<std::string>>)> done) const;

    /// A page of the valid tokens, by token.
    [[nodiscard]] Result<std::vector<ApiToken>> list(Page page = {}) const;
    void list(Page page, std::function<void(Result<std::vector<ApiToken>>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
