/// @file
/// `WebComponent`: accepts events and subscriptions over HTTP.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/listen_settings.hpp"
#include "components/process.hpp"
#include "components/root_key.hpp"
#include "routemaster/admission_control.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_requests.hpp"

namespace routemaster::service {

/// The settings of `WebComponent`. Defaults are Ruby Routemaster's, where Ruby Routemaster has the
/// setting.
struct WebSettings {
    ListenSettings listening{.port = 17'890};
    std::size_t body_max = 1U << 20U;
    // Absent for the defaults of `HttpServer`.
    std::optional<std::uint64_t> buffered_bytes_max{};
    std::optional<std::uint64_t> answer_bytes_max{};
    unsigned connections_max = 10'000;
    double header_timeout = 10;  ///< Seconds.
    std::uint64_t body_rate_min = 10'000;
    double idle_timeout = 60;  ///< Seconds.

    RootKeySettings root_key{};
    std::vector<std::string> clients{};

    std::optional<std::size_t> event_data_max{};  ///< Absent for the default, which is smaller in a
                                                  ///< mixed deployment.
    std::uint32_t topics_max = 1'000;
    std::size_t job_bytes_max = routemaster::job_bytes_max;
    std::string topic_names{};  ///< `any` or `ruby`; empty means `ruby` in a mixed deployment,
                                ///< `any` otherwise.
    std::string event_urls = "https";

    /// Absent for no limit: the bus then accepts events as long as the store does.
    std::optional<std::uint64_t> refuse_above{};

    std::uint64_t scaling_threshold = 100;
    std::int64_t scaling_deadline = 1'000;  ///< Milliseconds.
};

/// Declares the settings as flags, environment variables and names in a file. `settings` must
/// outlive the parsing.
void declare_web(CLI::App& app, WebSettings& settings);

/// Reads the root key from its file, if a file is set, and passes the limit of event data on to the
/// store's settings. Throws `CLI::Error` when settings contradict each other.
void complete(WebSettings& settings, ProcessSettings& process);

/// An `HttpServer` with an `HttpApi`, job leases and timers over HTTP, and, if a limit is set, an
/// `AdmissionControl`.
class WebComponent final : public Component {
public:
    /// Returns the reason why deliveries are impossible now, for `/pulse`; nothing when they are
    /// possible.
    using Trouble = std::function<std::optional<std::string>()>;

    /// Makes the tokens of `clients` valid, and listens. The store must outlive the component.
    /// Throws `Failure`.
    WebComponent(Store& store, const ProcessSettings& process, const WebSettings& settings,
                 const Log& log, Trouble trouble = {});

    [[nodiscard]] const char* type() const override { return "web"; }
    void announce() const override;
    void stop(TimePoint deadline) override;

private:
    Store& guarded(Store& store, const WebSettings& settings, const Log& log);
    [[nodiscard]] Store& admitting(Store& store) noexcept { return guard_ ? *guard_ : store; }

    std::string address_;
    std::optional<AdmissionControl> guard_;
    std::optional<Runner> measurements_;
    JobLeases leases_;
    TimerRequests timers_;
    HttpApi api_;
    Runner leasing_;
    Runner taking_;
    HttpServer server_;
};

}  // namespace routemaster::service
