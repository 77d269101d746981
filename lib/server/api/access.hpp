/// @file
/// Who may use a route.

#pragma once

#include "call.hpp"

namespace routemaster::api {

/// Which tokens a route takes. The order matters for the text of a 401 alone.
enum class Access {
    open,  ///< None; there must be no `Authorization` header at all.
    client,
    root,
    client_or_root,
    root_or_client,
};

/// What a route does with a call that may use it.
using Handler = void (*)(Call&);

/// Finds out who calls, then hands the call to `handler`, or answers 401.
void admit(Call& call, Access access, Handler handler);

}  // namespace routemaster::api
