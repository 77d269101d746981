#include "components/run_component.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "components/command_run.hpp"
#include "components/command_words.hpp"
#include "components/seconds.hpp"
#include "components/whole_number.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/names.hpp"

namespace routemaster::service {
namespace {

/// `EX_TEMPFAIL` of sysexits.h. With this exit status, the command requests a retry.
constexpr int try_later = 75;

/// Delay before the next attempt of a job when no command can be started.
constexpr Duration keeper_wait{5'000};

CLI::ValidationError refused(const std::string& problem) {
    return CLI::ValidationError{"--run", problem};
}

void add_command(RunSettings& settings, const std::string& text) {
    const auto mark = text.find('=');
    if (mark == std::string::npos) throw refused("'" + text + "' must have the form QUEUE=COMMAND");
    const auto queue = text.substr(0, mark);
    if (!is_queue_name(queue)) {
        throw refused("the queue '" + queue + "' must be " + queue_name_rule);
    }
    if (is_ruby_queue(queue)) throw refused("'" + queue + "' is reserved for the bus itself");
    auto words = command_words(std::string_view{text}.substr(mark + 1));
    if (!words) throw refused("the command of '" + queue + "' has no words, or an open quote");
    if (!can_execute(words->front())) throw refused("there is no program '" + words->front() + "'");
    if (!settings.commands.emplace(queue, *std::move(words)).second) {
        throw refused("the queue '" + queue + "' has two commands");
    }
}

WorkerPoolOptions pool_options(const ProcessSettings& process, const RunSettings& settings,
                               const Log& log) {
    WorkerPoolOptions options{.threads = settings.slots, .prefetch_max = 0, .log = log};
    for (const auto& [queue, words] : settings.commands) options.queues.emplace_back(queue);
    if (process.store.shared_with_ruby()) options.worker_silence = ruby_worker_silence;
    return options;
}

std::vector<std::string> variables_of(const JobContext& job) {
    std::vector<std::string> variables;
    const auto add = [&](const char* name, const std::string& value) {
        variables.push_back("ROUTEMASTER_JOB_" + std::string{name} + "=" + value);
    };
    add("ID", std::to_string(job.id()));
    add("QUEUE", job.queue());
    add("NAME", job.name());
    add("ATTEMPT", std::to_string(job.attempt()));
    add("FENCE", std::to_string(job.fence()));
    return variables;
}

}  // namespace

void declare_run(CLI::App& app, RunSettings& settings) {
    const auto* const group = "Jobs";
    app.add_option_function<std::vector<std::string>>(
           "--run",
           [&settings](const std::vector<std::string>& texts) {
               settings.commands.clear();
               for (const auto& text : texts) add_command(settings, text);
           },
           "Run the command for each job of the queue, without a shell; may be repeated for "
           "further queues [none]")
        ->type_name("QUEUE=COMMAND")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->envname("ROUTEMASTER_RUN")
        ->group(group);
    app.add_option("--run-slots", settings.slots, "Commands that run at once")
        ->check(whole_number(1, 1'000))
        ->envname("ROUTEMASTER_RUN_SLOTS")
        ->capture_default_str()
        ->group(group);
    app.add_option("--run-timeout", settings.timeout,
                   "Seconds that a command may take for a job without a timeout of its own; 0: any "
                   "time")
        ->check(seconds(0.0, 86'400.0))
        ->envname("ROUTEMASTER_RUN_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--run-kill-after", settings.kill_after,
                   "Seconds between SIGTERM, at the timeout of a command, and SIGKILL")
        ->check(seconds(0.0, 600.0))
        ->envname("ROUTEMASTER_RUN_KILL_AFTER")
        ->capture_default_str()
        ->group(group);
    app.add_option("--run-retry-after", settings.retry_after,
                   "Seconds until a job runs again after its command exited with status 75")
        ->check(seconds(0.0, 86'400.0))
        ->envname("ROUTEMASTER_RUN_RETRY_AFTER")
        ->capture_default_str()
        ->group(group);
}

std::uint32_t slots_of(const RunSettings& settings) noexcept {
    return settings.commands.empty() ? 0 : settings.slots;
}

std::unique_ptr<CommandKeeper> keeper_for(const RunSettings& settings) {
    return settings.commands.empty() ? nullptr : std::make_unique<CommandKeeper>();
}

RunComponent::RunComponent(Store& store, const ProcessSettings& process,
                           const RunSettings& settings, const CommandKeeper& keeper, const Log& log)
    : settings_{settings},
      keeper_{keeper},
      log_{log},
      pool_{store, pool_options(process, settings, log)} {
    pool_.handle_others([this](JobContext& job) { run(job); },
                        {.timeout = from_seconds(settings.timeout)});
    pool_.start();
}

void RunComponent::stop(TimePoint deadline) {
    pool_.stop(std::max(deadline - system_clock().now(), Duration{0}));
}

void RunComponent::run(const JobContext& job) const {
    if (job.name().find('\0') != std::string::npos) {
        throw Bury{"the name of the job has a NUL, which an environment variable cannot contain"};
    }
    std::string arguments;
    append_json(arguments, Value{job.arguments()});
    arguments.push_back('\n');
    const auto result =
        run_command(keeper_, {settings_.commands.at(job.queue()), variables_of(job)}, arguments,
                    job.stop_token(), from_seconds(settings_.kill_after));
    if (!result) {
        const auto& error = result.error();
        if (error.code() == Errc::invalid) throw Bury{error.context()};
        if (error.code() == Errc::cancelled) throw Retry{keeper_wait, error.context()};
        // The job is snoozed instead of failed, because the job is not the cause, and another
        // process may succeed.
        log_(LogLevel::error, "cannot run commands: " + error.context());
        throw Snooze{keeper_wait};
    }
    if (result->exit_status() == 0) return;
    if (result->exit_status() == try_later) {
        throw Retry{from_seconds(settings_.retry_after), result->text()};
    }
    throw std::runtime_error{result->text()};
}

}  // namespace routemaster::service
