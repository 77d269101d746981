#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "components/program.hpp"

namespace routemaster::service {
namespace {

struct Command {
    const char* name;
    const char* summary;
    Declare declare;
};

constexpr Command commands[] = {
    {"serve", "Run the bus", declare_serve},
    {"token", "Add, list and remove tokens of clients", declare_token},
    {"publish", "Publish events: one from flags, or many from JSON lines", declare_publish},
    {"subscribe", "Have the events of topics sent to a URL", declare_subscribe},
    {"batches", "List, show, deliver or drop batches that wait or are under way", declare_batches},
    {"dead", "List, show, redeliver or drop batches that failed for good", declare_dead},
    {"jobs", "Count, list, show, push, kick, cancel or delete jobs", declare_jobs},
    {"queues", "List, show, pause, resume or limit queues of jobs", declare_queues},
    {"workers", "List the workers, with what each has leased", declare_workers},
    {"recurring", "List, show, put, pause, resume, run or remove recurring jobs and timers",
     declare_recurring},
    {"timers", "Post, list, show, cancel, postpone, take, confirm, repost or drop timers",
     declare_timers},
    {"actions", "Push a job, publish an event, or deliver one to a subscriber at a later time",
     declare_actions},
    {"job-batches", "List, show, create, close or remove batches of jobs", declare_job_batches},
    {"listen", "Receive batches and print them", declare_listen},
    {"check", "Examine the file of a store", declare_check},
    {"backup", "Copy the file of a store, while a bus uses it", declare_backup},
    {"check-rollback", "Check whether a bus on Redis can move back to Ruby Routemaster",
     declare_check_rollback},
    {"export", "Export what is readable in the file of a store, as JSON lines", declare_export},
};

int run(const Command& command, std::vector<std::string> arguments) {
    CLI::App app{command.summary, std::string{"routemaster "} + command.name};
    return run_program(app, command.declare, std::move(arguments));
}

const Command* find_command(const std::string& name) {
    const auto* const found = std::find_if(std::begin(commands), std::end(commands),
                                           [&](const Command& each) { return each.name == name; });
    return found == std::end(commands) ? nullptr : found;
}

int main(std::vector<std::string> arguments) {
    CLI::App app{"A durable event bus: publishers push events, subscribers get ordered batches.",
                 "routemaster"};
    app.set_version_flag("--version", version_of("routemaster"));
    app.require_subcommand(1);
    app.footer("routemaster COMMAND --help lists the settings of a command.");
    for (const auto& command : commands) {
        // Each command parses its own arguments. Otherwise an environment variable for one command
        // would affect all commands.
        auto* const name = app.add_subcommand(command.name, command.summary)->prefix_command();
        name->set_help_flag();
    }
    if (!arguments.empty() && !arguments.front().starts_with('-') &&
        find_command(arguments.front()) == nullptr) {
        complain("routemaster", "there is no command '" + arguments.front() + "'; see --help");
        return usage_error;
    }
    if (const auto status = parse(app, std::move(arguments))) return *status;
    const auto* const chosen = app.get_subcommands().front();
    return run(*find_command(chosen->get_name()), chosen->remaining());
}

}  // namespace
}  // namespace routemaster::service

int main(int argc, char** argv) {
    return routemaster::service::main(routemaster::service::begin_program(argc, argv));
}
