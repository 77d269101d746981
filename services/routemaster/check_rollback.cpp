#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>

#include "command.hpp"
#include "components/bytes.hpp"
#include "components/store_settings.hpp"
#include "components/whole_number.hpp"
#if ROUTEMASTER_HAS_REDIS
#include "routemaster/store/redis_rollback.hpp"
#endif

namespace routemaster::service {
namespace {

struct RollbackSettings {
    StoreSettings store{};
    bool set_aside = false;
};

#if ROUTEMASTER_HAS_REDIS
/// Prints what prevents a rollback. The exit status is not 0 if anything prevents it.
int check_rollback(const RollbackSettings& settings) {
    auto server = parse_redis_url(settings.store.effective_url());
    if (!server) throw CLI::ValidationError("--store", server.error().context());
    if (settings.store.event_data_max) server->event_data_max = *settings.store.event_data_max;
    const auto findings =
        routemaster::check_rollback(*server, {.set_aside = settings.set_aside}).value();
    for (const auto& finding : findings) {
        std::cout << (finding.in_the_way ? "blocks the move: " : "stays behind: ") << finding.what
                  << "\n    " << finding.remedy << '\n';
    }
    const bool is_free = std::none_of(findings.begin(), findings.end(),
                                      [](const auto& finding) { return finding.in_the_way; });
    if (is_free) std::cout << "nothing blocks the move\n";
    return is_free ? 0 : 1;
}
#else
int check_rollback(const RollbackSettings&) {
    throw CLI::ValidationError("--store", "this build has no Redis store");
}
#endif

}  // namespace

Run declare_check_rollback(CLI::App& app) {
    const auto settings = std::make_shared<RollbackSettings>();
    declare_store(app, settings->store, Sharing::shared);
    app.add_option("--event-data-max", settings->store.event_data_max,
                   "Bytes of MessagePack that the data of an event may take, as Ruby workers are "
                   "set to [64]")
        ->transform(bytes())
        ->check(whole_number(0, 1 << 30))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_MAX_EVENT_DATA")
        ->group("Data");
    app.add_flag("--set-aside", settings->set_aside,
                 "Keep batches that Ruby workers cannot read away from these workers, if an "
                 "earlier version did not");
    return [settings] { return check_rollback(*settings); };
}

}  // namespace routemaster::service
