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

/// The API tokens of a store. A token is a credential with the name of its owner, and stays valid
/// until it is removed. The HTTP API accepts only valid tokens, as does a `Publisher` that
/// authenticates.
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class ApiTokens {
public:
    /// The store and the clock must outlive this object.
    explicit ApiTokens(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// Makes a token valid, or changes the owner's name of a valid token. `invalid`, naming the
    /// field, when the token or the name does not satisfy `is_user_name`.
    Result<void> put(ApiToken token) const;
    void put(ApiToken token, std::function<void(Result<void>)> done) const;

    /// Makes a token invalid, and removes the subscriber of this token as `Subscriber::remove`
    /// does. Returns `unknown` when neither the token nor the subscriber exists.
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
