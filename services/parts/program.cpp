#include "parts/program.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::service {
namespace {

/// CLI11 names an option by its flag only; whoever set the variable looks for that. The option that
/// the text names first is the one it is about.
std::string with_variable(const CLI::App& app, std::string text) {
    auto first = std::string::npos;
    std::string variable;
    for (const auto* option : app.get_options()) {
        const auto at = text.find(option->get_name());
        const auto end = at + option->get_name().size();
        if (at >= first || (end < text.size() && text[end] != ':' && text[end] != ' ')) continue;
        first = end;
        variable = option->get_envname();
    }
    return variable.empty() ? text : text.insert(first, " (" + variable + ")");
}

int refuse(const CLI::App& app, const CLI::Error& error) {
    complain(app.get_name(), with_variable(app, error.what()));
    return usage_error;
}

}  // namespace

std::vector<std::string> begin_program(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    return {argv + std::min(argc, 1), argv + argc};
}

void complain(const std::string& name, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cerr << name << ": " << text << std::endl;
}

std::string version_of(const std::string& name) { return name + ' ' + ROUTEMASTER_VERSION; }

std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
        app.parse(std::move(arguments));
        return std::nullopt;
    } catch (const CLI::Success& asked) {
        return app.exit(asked);
    } catch (const CLI::Error& error) {
        return refuse(app, error);
    }
}

int run_program(CLI::App& app, Declare declare, std::vector<std::string> arguments) {
    const auto work = declare(app);
    if (const auto status = parse(app, std::move(arguments))) return *status;
    try {
        return work();
    } catch (const CLI::Error& error) {
        return refuse(app, error);
    } catch (const Failure& failure) {
        // That it is `unavailable` or `invalid` tells a program what to do; a person has the text.
        const auto error = failure.error();
        const bool ours = error.code().category() == error_category();
        complain(app.get_name(), ours ? error.context() : error.message());
    } catch (const std::exception& failure) {
        complain(app.get_name(), failure.what());
    }
    return 1;
}

}  // namespace routemaster::service
