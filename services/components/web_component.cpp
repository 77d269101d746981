#include "components/web_component.hpp"

#include <algorithm>
#include <utility>

#include "components/bytes.hpp"
#include "components/seconds.hpp"
#include "components/whole_number.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/event.hpp"
#include "routemaster/names.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::service {
namespace {

void declare_http(CLI::App& app, WebSettings& settings) {
    declare_listening(app, settings.listening, "ROUTEMASTER_LISTEN", "PORT");
    app.add_option("--body-max", settings.body_max, "Largest body of a request")
        ->transform(bytes())
        ->check(whole_number(1, 1 << 30))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_BODY_MAX")
        ->capture_default_str();
    app.add_option("--connections-max", settings.connections_max, "Connections open at once")
        ->check(whole_number(1, 1'000'000))
        ->envname("ROUTEMASTER_CONNECTIONS_MAX")
        ->capture_default_str();
    app.add_option("--buffered-bytes-max", settings.buffered_bytes_max,
                   "Bytes that all bodies of requests without an answer may take together; 503 "
                   "beyond it [64MiB, or an eighth of the memory limit if that is less]")
        ->transform(bytes())
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 40U))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_BUFFERED_BYTES_MAX");
    app.add_option("--answer-bytes-max", settings.answer_bytes_max,
                   "Bytes that all answers beyond 4 KiB may take together until their clients have "
                   "read them; 503 for a GET beyond it [64MiB, or an eighth of the memory limit if "
                   "that is less]")
        ->transform(bytes())
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 40U))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_ANSWER_BYTES_MAX");
    app.add_option("--header-timeout", settings.header_timeout,
                   "Seconds in which the complete head of a request must arrive")
        ->check(seconds())
        ->envname("ROUTEMASTER_HEADER_TIMEOUT")
        ->capture_default_str();
    app.add_option("--body-rate-min", settings.body_rate_min,
                   "Bytes a second at which a client must send a body and read an answer, on "
                   "average, after a grace of --header-timeout")
        ->check(whole_number(1, 1 << 30))
        ->envname("ROUTEMASTER_BODY_RATE_MIN")
        ->capture_default_str();
    app.add_option("--idle-timeout", settings.idle_timeout,
                   "Whole seconds after which the bus closes a connection without requests")
        ->check(seconds())
        ->envname("ROUTEMASTER_IDLE_TIMEOUT")
        ->capture_default_str();
    app.add_option("--scaling-threshold", settings.scaling_threshold,
                   "Due jobs from which GET /pulse/scaling reports a busy bus")
        ->check(whole_number(1, 1'000'000'000))
        ->envname("ROUTEMASTER_SCALING_THRESHOLD")
        ->capture_default_str();
    app.add_option("--scaling-deadline", settings.scaling_deadline,
                   "Milliseconds ahead within which a job counts as due for --scaling-threshold")
        ->check(whole_number(0, 3'600'000))
        ->envname("ROUTEMASTER_SCALING_DEADLINE")
        ->capture_default_str();
}

void declare_limits(CLI::App& app, WebSettings& settings) {
    app.add_option("--event-data-max", settings.event_data_max,
                   "Bytes of MessagePack that the data of an event may take [64KiB; with "
                   "--mixed-fleet 64, which must match the Ruby workers]")
        ->transform(bytes())
        ->check(whole_number(0, 1 << 30))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_MAX_EVENT_DATA")
        ->group("Data");
    app.add_option("--job-bytes-max", settings.job_bytes_max,
                   "Bytes of MessagePack that the name and arguments of a pushed job may take")
        ->transform(bytes())
        ->check(whole_number(std::size_t{1}, job_bytes_limit))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_JOB_BYTES_MAX")
        ->capture_default_str()
        ->group("Data");
    app.add_option("--topics-max", settings.topics_max,
                   "Topics that a client may subscribe to, and topics that it may own")
        ->check(whole_number(1, 1'000'000))
        ->envname("ROUTEMASTER_TOPICS_MAX")
        ->capture_default_str()
        ->group("Data");
    app.add_option("--topic-names", settings.topic_names,
                   "any: topic names consist of a-z, 0-9, _, - and .; ruby: of a-z and _ "
                   "[any, but ruby with --mixed-fleet]")
        ->check(CLI::IsMember{{"any", "ruby"}})
        ->envname("ROUTEMASTER_TOPIC_NAMES")
        ->group("Data");
    app.add_option("--event-urls", settings.event_urls,
                   "https: an event has a URL of https without a query; any: of any scheme, or "
                   "none if it has data")
        ->check(CLI::IsMember{{"https", "any"}})
        ->envname("ROUTEMASTER_EVENT_URLS")
        ->capture_default_str()
        ->group("Data");
    app.add_option("--refuse-above", settings.refuse_above,
                   "Bytes that the store may take before the bus refuses new events with 503, "
                   "until it takes a tenth less [never]")
        ->transform(bytes())
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 50U))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_REFUSE_ABOVE")
        ->group("Data");
}

void declare_access(CLI::App& app, WebSettings& settings) {
    declare_root_key(app, settings.root_key);
    app.add_option("--clients", settings.clients,
                   "Tokens to make valid, separated by commas; the part before -- is the name")
        ->type_name("TOKEN,...")
        ->delimiter(',')
        ->envname("ROUTEMASTER_CLIENTS")
        ->group("Access");
}

/// In a mixed deployment (Ruby and routemaster processes on one Redis), Ruby Routemaster's rules
/// for events apply, because an event that violates the rules crashes its workers.
EventRules event_rules(const ProcessSettings& process, const WebSettings& settings) {
    const bool mixed = process.store.shared_with_ruby();
    return {.topics = mixed || settings.topic_names == "ruby" ? TopicRule::ruby : TopicRule::any,
            .urls = settings.event_urls == "any" ? UrlRule::any : UrlRule::https};
}

HttpApiOptions api_options(const ProcessSettings& process, const WebSettings& settings,
                           const Log& log, WebComponent::Trouble trouble, JobLeases& leases,
                           TimerRequests& timers) {
    return {.root_key = settings.root_key.key,
            .allow_http_callbacks = process.allow_http_callbacks,
            .event_data_max = settings.event_data_max.value_or(
                process.store.shared_with_ruby() ? event_data_max_ruby : event_data_max_default),
            .event_rules = event_rules(process, settings),
            .topics_max = settings.topics_max,
            .job_bytes_max = settings.job_bytes_max,
            .scaling_deadline = Duration{settings.scaling_deadline},
            .scaling_threshold = settings.scaling_threshold,
            .leases = &leases,
            .timers = &timers,
            .trouble = std::move(trouble),
            .log = log};
}

HttpServerOptions server_options(const WebSettings& settings, const Log& log) {
    return {.address = settings.listening.endpoint.address,
            .port = settings.listening.effective_port(),
            .body_max = settings.body_max,
            .buffered_bytes_max = settings.buffered_bytes_max.value_or(0),
            .answer_bytes_max = settings.answer_bytes_max.value_or(0),
            .answers_large = HttpApi::answers_large,
            .connections_max = settings.connections_max,
            .header_timeout = from_seconds(settings.header_timeout),
            .body_rate_min = settings.body_rate_min,
            .idle_timeout = from_seconds(settings.idle_timeout),
            .log = log};
}

/// At most half of the connections may wait for jobs, so that other requests can be served.
JobLeasesOptions lease_options(const ProcessSettings& process, const WebSettings& settings,
                               bool has_worker, const Log& log) {
    JobLeasesOptions options{.waiting_max = std::max(settings.connections_max / 2, 1U),
                             .finds_dead = !has_worker,
                             .log = log};
    if (process.store.shared_with_ruby()) options.worker_silence = ruby_worker_silence;
    return options;
}

/// At most a quarter of the connections may wait for timers.
TimerRequestsOptions timer_options(const WebSettings& settings, const Log& log) {
    return {.waiting_max = std::max(settings.connections_max / 4, 1U), .log = log};
}

/// After rejecting events, the bus accepts events again when the store uses 10 % less than the
/// limit.
AdmissionControlOptions guard_options(std::uint64_t refuse_above, const Log& log) {
    const auto free = refuse_above / 10;
    return {.capacity = {.bytes_max = refuse_above + free, .bytes_free_min = free}, .log = log};
}

/// Adds a token, unless the store contains it. A full store rejects writes, but can still deliver.
Result<Done> let_in(Store& store, ApiToken client) {
    const auto now = system_clock().now();
    const auto known = perform(store, FindToken{client.token}, now);
    if (known && *known == client.name) return Done{};
    return perform(store, PutToken{std::move(client.token), std::move(client.name)}, now);
}

/// Adds the tokens of clients that the settings contain. Must be called before the server listens.
Store& with_clients(Store& store, const std::vector<std::string>& clients) {
    for (const auto& token : clients) {
        const auto reply = let_in(store, {token, token.substr(0, token.find("--"))});
        if (!reply) {
            throw Failure{Error{reply.error().code(), "--clients: '" + public_part(token) +
                                                          "': " + reply.error().context()}};
        }
    }
    return store;
}

}  // namespace

void declare_web(CLI::App& app, WebSettings& settings) {
    declare_http(app, settings);
    declare_limits(app, settings);
    declare_access(app, settings);
}

void complete(WebSettings& settings, ProcessSettings& process) {
    if (process.store.shared_with_ruby()) {
        process.store.event_data_max = settings.event_data_max;
        constexpr auto others =
            "any is not allowed with --mixed-fleet: Ruby processes terminate at such names or URLs";
        if (settings.topic_names == "any") throw CLI::ValidationError("--topic-names", others);
        if (settings.event_urls == "any") throw CLI::ValidationError("--event-urls", others);
    }
    settings.root_key.key = require_root_key(settings.root_key);
    if (settings.root_key.key.find(':') != std::string::npos) {
        throw CLI::ValidationError(
            "--root-key",
            "must not contain ':', because clients send the key as an HTTP Basic user name");
    }
    for (const auto& token : settings.clients) {
        if (is_user_name(token) && token.find(':') == std::string::npos) continue;
        throw CLI::ValidationError("--clients", "'" + public_part(token) +
                                                    "' must be 1 to 64 of a-z, 0-9, _ and -; ':' "
                                                    "is not allowed in an HTTP Basic user name");
    }
}

WebComponent::WebComponent(Store& store, const ProcessSettings& process,
                           const WebSettings& settings, const Log& log, Trouble trouble)
    : address_{settings.listening.endpoint.address},
      leases_{with_clients(guarded(store, settings, log), settings.clients),
              lease_options(process, settings, trouble != nullptr, log)},
      timers_{store, timer_options(settings, log)},
      api_{admitting(store),
           api_options(process, settings, log, std::move(trouble), leases_, timers_)},
      leasing_{leases_},
      taking_{timers_},
      server_{server_options(settings, log),
              [this](HttpRequest request, HttpResponder respond) {
                  api_.handle(std::move(request), std::move(respond));
              },
              [this](HttpRequest head, HttpResponder respond) {
                  api_.authorize(std::move(head), std::move(respond));
              }} {}

Store& WebComponent::guarded(Store& store, const WebSettings& settings, const Log& log) {
    if (!settings.refuse_above) return store;
    guard_.emplace(store, guard_options(*settings.refuse_above, log));
    measurements_.emplace(*guard_);
    return *guard_;
}

void WebComponent::announce() const { announce_listening(address_, server_.port()); }

void WebComponent::stop(TimePoint deadline) {
    leases_.drain();
    timers_.drain();
    server_.stop(std::max(deadline - system_clock().now(), Duration{0}));
    leasing_.stop(Duration{0});
    taking_.stop(Duration{0});
    if (measurements_) measurements_->stop(Duration{0});
}

}  // namespace routemaster::service
