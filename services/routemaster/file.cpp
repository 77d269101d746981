#include <iostream>
#include <memory>
#include <string>

#include "command.hpp"
#include "routemaster/store/embedded_file.hpp"

namespace routemaster::service {
namespace {

/// Tells what is wrong; the exit status says whether anything is.
int tell_damage(const EmbeddedFileReport& report) {
    for (const auto& line : report.damage) std::cerr << line << '\n';
    return report.damage.empty() ? 0 : 1;
}

int check(const std::string& file) {
    const auto report = check_embedded_file(file).value();
    std::cout << report.rows << " rows, " << report.bytes << " bytes: " << report.topics
              << " topics, " << report.subscribers << " subscribers, " << report.tokens
              << " tokens, " << report.batches << " batches (" << report.dead << " DEAD), "
              << report.events << " events, " << report.jobs << " jobs, " << report.counters
              << " counters\n"
              << (report.damage.empty() ? "whole\n" : "damaged\n");
    return tell_damage(report);
}

int write(const std::string& file) {
    const auto report = export_embedded_file(file, [](std::string_view line) {
                            std::cout << line << '\n';
                        }).value();
    return tell_damage(report);
}

Run declare(CLI::App& app, int (*work)(const std::string&)) {
    const auto file = std::make_shared<std::string>();
    app.add_option("file", *file, "The file of a store that no process uses")->required();
    return [file, work] { return work(*file); };
}

}  // namespace

Run declare_check(CLI::App& app) { return declare(app, check); }
Run declare_export(CLI::App& app) { return declare(app, write); }

}  // namespace routemaster::service
