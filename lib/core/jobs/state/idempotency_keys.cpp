#include "core/jobs/state/idempotency_keys.hpp"

namespace routemaster::detail {

void IdempotencyKeys::keep(const std::string& queue, const IdempotencyKey& key, const Pushed& reply,
                           TimePoint now) {
    auto& push = pushes_.open(queue + ':' + key.text, saturating_add(now, key.time), now);
    push.fingerprint = key.fingerprint;
    push.reply = reply;
    changes_.changed(push);
}

}  // namespace routemaster::detail
