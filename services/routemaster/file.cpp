#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "command.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/embedded_file.hpp"

namespace routemaster::service {
namespace {

/// Returns the exit status: 1 if there is damage.
int report_damage(const EmbeddedFileReport& report) {
    for (const auto& line : report.damage) std::cerr << line << '\n';
    return report.damage.empty() ? 0 : 1;
}

/// Opening the store drops the data after the damage, and copies the damaged log.
void repair(const std::string& file) {
    const auto log = [](LogLevel, std::string_view text) { std::cerr << text << '\n'; };
    const EmbeddedStore store{file, {.accept_damage = true, .log = log}};
}

/// Prints the numbers of the file's contents, and its damage. Returns the exit status.
int print(const EmbeddedFileReport& report) {
    std::cout << report.rows << " rows, " << report.bytes << " bytes: " << report.topics
              << " topics, " << report.subscribers << " subscribers, " << report.tokens
              << " tokens, " << report.batches << " batches (" << report.dead << " DEAD), "
              << report.events << " events, " << report.jobs << " jobs, " << report.timers
              << " timers, " << report.counters << " counters\n"
              << (report.damage.empty() ? "whole\n" : "damaged\n");
    return report_damage(report);
}

int check(const std::string& file, bool mend) {
    auto report = check_embedded_file(file).value();
    if (mend && !report.damage.empty()) {
        report_damage(report);
        repair(file);
        report = check_embedded_file(file).value();
    }
    return print(report);
}

/// Checks the copy after writing it, because damage must be noticed before a restore.
int back_up(const std::string& file, const std::string& target) {
    backup_embedded_file(file, target).value();
    return print(check_embedded_file(target).value());
}

int write(const std::string& file) {
    const auto report = export_embedded_file(file, [](std::string_view line) {
                            std::cout << line << '\n';
                        }).value();
    return report_damage(report);
}

std::shared_ptr<std::string> declare_file(CLI::App& app) {
    auto file = std::make_shared<std::string>();
    app.add_option("file", *file, "The file of a store that no process uses")->required();
    return file;
}

}  // namespace

Run declare_check(CLI::App& app) {
    const auto file = declare_file(app);
    const auto mend = std::make_shared<bool>(false);
    app.add_flag("--repair", *mend, "Keep what precedes damage in its log, and a copy of the log");
    return [file, mend] { return check(*file, *mend); };
}

Run declare_backup(CLI::App& app) {
    const auto file = std::make_shared<std::string>();
    const auto target = std::make_shared<std::string>();
    app.add_option("file", *file, "The file of a store, whether a bus uses it or not")->required();
    app.add_option("target", *target, "The new file")->required();
    return [file, target] { return back_up(*file, *target); };
}

Run declare_export(CLI::App& app) {
    const auto file = declare_file(app);
    return [file] { return write(*file); };
}

}  // namespace routemaster::service
