/// @file
/// `WebComponent`: the HTTP server of the service.

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

/// Settings of `WebComponent`. The settings that Ruby Routemaster has as well have the defaults of
/// Ruby Routemaster.
struct WebSettings {
    ListenSettings listening{.port = 17'890};
    std::size_t body_max = 1U << 20U;
    // Absent: the defaults of `HttpServer`.
    std::optional<std::uint64_t> buffered_bytes_max{};
    std::optional<std::uint64_t> answer_bytes_max{};
    unsigned connections_max = 10'000;
    double header_timeout = 10;  ///< Seconds.
    std::uint64_t body_rate_min = 10'000;
    double idle_timeout = 60;  ///< Seconds.

    RootKeySettings root_key{};
    std::vector<std::string> clients{};

    /// Absent: the default, which is smaller in a mixed deployment (Ruby and routemaster processes
    /// on one Redis).
    std::optional<std::size_t> event_data_max{};
    std::uint32_t topics_max = 1'000;
    std::size_t job_bytes_max = routemaster::job_bytes_max;
    std::string topic_names{};  ///< `any` or `ruby`; empty: `ruby` in a mixed deployment, else
                                ///< `any`.
    std::string event_urls = "https";

    /// Absent: no limit, so the bus accepts events as long as the store does.
    std::optional<std::uint64_t> refuse_above{};

    std::uint64_t scaling_threshold = 100;
    std::int64_t scaling_deadline = 1'000;  ///< Milliseconds.
};

/// Declares the settings as flags, environment variables and names in a settings file. `settings`
/// must outlive the parsing.
void declare_web(CLI::App& app, WebSettings& settings);

/// Reads the root key from its file, if a file is set, and copies the limit for event data to the
/// store's settings. Throws `CLI::Error` if settings contradict each other.
void complete(WebSettings& settings, ProcessSettings& process);

/// An `HttpServer` with an `HttpApi`, with job leases and timers over HTTP, and, if a limit is set,
/// with an `AdmissionControl`.
class WebComponent final : public Component {
public:
    /// Function that returns why deliveries are impossible now, or nothing if they are possible.
    /// For `/pulse`.
    using Trouble = std::function<std::optional<std::string>()>;

    /// Adds the tokens of `clients`, and starts listening. The store must outlive the component.
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
