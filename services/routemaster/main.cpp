#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "routemaster/error.hpp"

namespace routemaster::service {
namespace {

constexpr int usage_error = 2;

struct Command {
    const char* name;
    const char* summary;
    Run (*declare)(CLI::App&);
};

constexpr Command commands[] = {
    {"serve", "Run the bus", declare_serve},
    {"token", "Say who may use a running bus", declare_token},
    {"publish", "Publish events: one from flags, or many from JSON lines", declare_publish},
    {"subscribe", "Have the events of topics sent to a URL", declare_subscribe},
    {"listen", "Receive batches and print them", declare_listen},
};

void complain(const std::string& name, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cerr << name << ": " << text << std::endl;
}

/// CLI11 names an option by its flag only; whoever set the variable looks for that.
std::string with_variable(const CLI::App& app, std::string text) {
    for (const auto* option : app.get_options()) {
        const auto flag = option->get_name();
        const auto& variable = option->get_envname();
        const auto at = text.find(flag);
        const auto end = at + flag.size();
        if (variable.empty() || at == std::string::npos) continue;
        if (end < text.size() && text[end] != ':' && text[end] != ' ') continue;
        return text.insert(end, " (" + variable + ")");
    }
    return text;
}

/// Parses `arguments`, or says what is wrong with them. Answers the exit status when that is all
/// there is to do.
std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
        app.parse(std::move(arguments));
        return std::nullopt;
    } catch (const CLI::Success& asked) {
        return app.exit(asked);
    } catch (const CLI::Error& error) {
        complain(app.get_name(), with_variable(app, error.what()));
        return usage_error;
    }
}

int run(const Command& command, std::vector<std::string> arguments) {
    const auto name = std::string{"routemaster "} + command.name;
    CLI::App app{command.summary, name};
    const auto work = command.declare(app);
    if (const auto status = parse(app, std::move(arguments))) return *status;
    try {
        return work();
    } catch (const CLI::Error& error) {
        complain(name, error.what());
        return usage_error;
    } catch (const Failure& failure) {
        // That it is `unavailable` or `invalid` tells a program what to do; a person has the text.
        const auto error = failure.error();
        const bool ours = error.code().category() == error_category();
        complain(name, ours ? error.context() : error.message());
        return 1;
    } catch (const std::exception& failure) {
        complain(name, failure.what());
        return 1;
    }
}

const Command* find_command(const std::string& name) {
    const auto* const found = std::find_if(std::begin(commands), std::end(commands),
                                           [&](const Command& each) { return each.name == name; });
    return found == std::end(commands) ? nullptr : found;
}

int main(std::vector<std::string> arguments) {
    CLI::App app{"A durable event bus: publishers push events, subscribers get ordered batches.",
                 "routemaster"};
    app.set_version_flag("--version", std::string{"routemaster "} + ROUTEMASTER_VERSION);
    app.require_subcommand(1);
    app.footer("routemaster COMMAND --help tells the settings of a command.");
    for (const auto& command : commands) {
        // Each command parses what follows by itself, so that variables meant for one command
        // cannot be in the way of another.
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
    // Whoever reads our output, or a peer, may go away; writing to them must fail, not kill.
    std::signal(SIGPIPE, SIG_IGN);
    return routemaster::service::main({argv + std::min(argc, 1), argv + argc});
}
