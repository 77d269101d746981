#include "components/program.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <utility>

#include "components/renamed_settings.hpp"
#include "components/secret_settings.hpp"
#include "components/settings_file.hpp"
#include "routemaster/error.hpp"
#include "routemaster/printable_text.hpp"

namespace routemaster::service {
namespace {

/// Returns where an option in an error was set: a line of the settings file, or an environment
/// variable. CLI11 does not name either.
std::string place_of(const CLI::App& app, const CLI::Option& option) {
    const auto* const file = settings_file_of(app);
    const auto source = file == nullptr ? std::string{} : file->source_of(option);
    const bool in_file = !source.empty() && source.starts_with(file->path() + ':');
    return in_file ? source : option.get_envname();
}

/// Inserts the result of `place_of` into an error text, after the first option name in it. CLI11
/// does not name hidden options, which can only be set by environment variables.
std::string with_place(const CLI::App& app, std::string text) {
    auto first = std::string::npos;
    std::string place;
    for (const auto* option : app.get_options()) {
        const auto name = option->get_name();
        const auto at = text.find(name);
        const auto end = at + name.size();
        if (at >= first || (end < text.size() && text[end] != ':' && text[end] != ' ')) continue;
        first = end;
        place = name.empty() ? option->get_envname() : " (" + place_of(app, *option) + ")";
    }
    return place.empty() || place == " ()" ? text : text.insert(first, place);
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
    if (const auto* option = app.get_option_no_throw(name)) return option;
    for (const auto* command : app.get_subcommands()) {
        if (const auto* option = find_option(*command, name)) return option;
    }
    return nullptr;
}

/// Returns the text of an error about a value of the wrong type. CLI11 does not name the required
/// type: `Could not convert: --age-max = old`. Options of other types have validators.
std::string text_of_conversion(const CLI::App& app, const std::string& text) {
    constexpr std::string_view begin = "Could not convert: ";
    constexpr std::string_view middle = " = ";
    const auto end = text.find(middle);
    if (!text.starts_with(begin) || end == std::string::npos) return text;
    const auto name = text.substr(begin.size(), end - begin.size());
    const auto* const option = find_option(app, name);
    if (option == nullptr) return text;
    const bool is_flag =
        option->get_items_expected_max() == 0 || option->get_type_name() == "YES|NO";
    return name + ": must be " + (is_flag ? "true or false" : "a whole number") + ", not '" +
           text.substr(end + middle.size()) + "'";
}

/// Returns the text of an error. If a required option is misspelt, there is both an unknown word
/// and a missing option. This function then reports the unknown word, whereas CLI11 would report
/// only the missing option. CLI11 also lists unknown words in reverse order.
std::string text_of(const CLI::App& app, const CLI::Error& error) {
    const bool usage = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                       dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const auto unknown = app.remaining(true);
    if (!usage || unknown.empty()) {
        return with_place(app, text_of_conversion(app, error.what()));
    }
    std::string text = "not known, or not expected here:";
    for (const auto& word : unknown) text += ' ' + word;
    return text + "; see --help";
}

int refuse(const CLI::App& app, const CLI::Error& error) {
    complain(app.get_name(), text_of(app, error));
    return usage_error;
}

/// If the address space is limited, restricts malloc to two heaps, because glibc reserves 64 MiB of
/// addresses per heap. Must be called before any thread starts.
void share_heaps() {
#ifdef M_ARENA_MAX
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    mallopt(M_ARENA_MAX, 2);
#endif
}

/// Throws an error for the first flag that was renamed.
void refuse_renamed(const std::vector<std::string>& words) {
    for (const auto& word : words) {
        if (!word.starts_with("--")) continue;
        const auto before = word.substr(2, word.find('=') - 2);
        const auto now = name_now(before);
        if (now) throw CLI::ParseError{renamed_message("--" + before, "--" + *now), usage_error};
    }
}

/// Makes glibc return large blocks to the system when they are freed. By default glibc raises its
/// threshold to up to 32 MiB when such blocks are freed, and would retain most of the memory used
/// by many simultaneous requests.
void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    constexpr int large = 262'144;
    constexpr int blocks_max = 4'096;  // The kernel allows a process about 65,000 mappings.
    ::mallopt(M_MMAP_THRESHOLD, large);
    ::mallopt(M_MMAP_MAX, blocks_max);
#endif
}

}  // namespace

std::vector<std::string> begin_program(int argc, char** argv) {
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    return_large_blocks();
    share_heaps();
    std::vector<std::string> arguments{argv + std::min(argc, 1), argv + argc};
    hide_secret_arguments(argc, argv);
    return arguments;
}

void complain(const std::string& name, const std::string& text) {
    std::cerr << name << ": " << printable_text(text) << std::endl;
}

std::string version_of(const std::string& name) { return name + ' ' + ROUTEMASTER_VERSION; }

std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments) {
    auto* const file = settings_file_of(app);
    if (file != nullptr) file->note_words(arguments);
    try {
        if (file != nullptr) refuse_renamed(arguments);
        std::reverse(arguments.begin(), arguments.end());
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
    hide_secret_variables();
    try {
        const auto status = work();
        if (std::cout.flush()) return status;
        complain(app.get_name(), "the output could not be written");
    } catch (const CLI::Error& error) {
        return refuse(app, error);
    } catch (const Failure& failure) {
        // The error code (`unavailable`, `invalid`) is for programs; users need only the text.
        const auto error = failure.error();
        const bool ours = error.code().category() == error_category();
        complain(app.get_name(), ours ? error.context() : error.message());
    } catch (const std::bad_alloc&) {
        complain(app.get_name(),
                 "out of memory: raise the memory limit of the process, or set a smaller "
                 "memory_max= for a store in a file");
    } catch (const std::exception& failure) {
        complain(app.get_name(), failure.what());
    }
    return 1;
}

}  // namespace routemaster::service
