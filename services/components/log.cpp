#include "components/log.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include <spdlog/details/file_helper.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "routemaster/printable_text.hpp"

namespace routemaster::service {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return spdlog::level::debug;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::warning: return spdlog::level::warn;
        case LogLevel::error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

/// Spells levels as the logs of Ruby Routemaster do, so that a search finds lines of both.
class LevelWord final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        const auto word = spell(message.level);
        out.append(word.data(), word.data() + word.size());
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<LevelWord>();
    }

private:
    static std::string_view spell(spdlog::level::level_enum level) {
        switch (level) {
            case spdlog::level::debug: return "DEBUG";
            case spdlog::level::info: return "INFO";
            case spdlog::level::warn: return "WARN";
            default: return "ERROR";
        }
    }
};

/// A log file that can be reopened for log rotation.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    /// Throws `spdlog_ex` when the file cannot be opened.
    explicit FileSink(std::string path) : path_{std::move(path)}, file_{open()} {}

    /// Opens the file again. On error, throws `spdlog_ex`, and the old file remains in use.
    void reopen() {
        auto fresh = open();
        const std::lock_guard lock{mutex_};
        file_.swap(fresh);
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        file_->write(line);
    }
    void flush_() override { file_->flush(); }

private:
    using File = std::unique_ptr<spdlog::details::file_helper>;

    /// Opens the file without creating its folder. spdlog would create a missing folder, so a
    /// misspelt path would go unnoticed, and log rotation would miss the file.
    [[nodiscard]] File open() const {
        const auto folder = std::filesystem::path{path_}.parent_path();
        std::error_code unreadable;
        if (!folder.empty() && !std::filesystem::is_directory(folder, unreadable)) {
            throw spdlog::spdlog_ex{"there is no folder " + folder.string()};
        }
        auto file = std::make_unique<spdlog::details::file_helper>();
        file->open(path_);
        return file;
    }

    std::string path_;
    File file_;
};

std::shared_ptr<FileSink> open_file(const std::string& path) {
    try {
        return std::make_shared<FileSink>(path);
    } catch (const spdlog::spdlog_ex& failure) {
        throw CLI::ValidationError("--log-file", failure.what());
    }
}

}  // namespace

void declare_log(CLI::App& app, LogSettings& settings) {
    static const std::map<std::string, LogLevel> levels{{"debug", LogLevel::debug},
                                                        {"info", LogLevel::info},
                                                        {"warn", LogLevel::warning},
                                                        {"error", LogLevel::error}};
    app.add_option_function<std::string>(
           "--log-level",
           [&settings](const std::string& word) { settings.level = levels.at(word); },
           "debug, info, warn or error")
        // Unlike `check`, `transform` converts the word to the spelling in the table.
        ->transform(CLI::IsMember{{"debug", "info", "warn", "error"}, CLI::ignore_case})
        ->type_name("LEVEL")
        ->envname("ROUTEMASTER_LOG_LEVEL")
        ->default_str("info")
        ->group("Log");
    app.add_option("--log-file", settings.file, "Append to this file [standard error]")
        ->type_name("FILE")
        ->envname("ROUTEMASTER_LOG_FILE")
        ->group("Log");
}

OpenLog open_log(const LogSettings& settings) {
    const auto file = settings.file.empty() ? nullptr : open_file(settings.file);
    const spdlog::sink_ptr sink =
        file ? spdlog::sink_ptr{file} : std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<LevelWord>('*').set_pattern("[%Y-%m-%d %H:%M:%S.%e] %*: %v");
    auto logger = std::make_shared<spdlog::logger>("routemaster", sink);
    logger->set_formatter(std::move(formatter));
    logger->set_level(level_of(settings.level));
    logger->flush_on(spdlog::level::debug);
    const Log log = [logger](LogLevel level, std::string_view text) {
        if (!logger->should_log(level_of(level))) return;
        const auto line = printable_text(text);
        logger->log(level_of(level), spdlog::string_view_t{line.data(), line.size()});
    };
    const auto reopen = [file, log] {
        if (!file) return;
        try {
            file->reopen();
            log(LogLevel::info, "reopened the log file");
        } catch (const spdlog::spdlog_ex& failure) {
            log(LogLevel::error, std::string{"cannot reopen the log file: "} + failure.what());
        }
    };
    return {log, reopen};
}

}  // namespace routemaster::service
