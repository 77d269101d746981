#include "parts/log.hpp"

#include <map>
#include <memory>
#include <string_view>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "routemaster/result.hpp"

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

/// The word for a level as the original's logs spell it, which whoever searches them looks for.
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

spdlog::sink_ptr open_sink(const LogSettings& settings) {
    if (settings.file.empty()) return std::make_shared<spdlog::sinks::stderr_sink_mt>();
    try {
        return std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file);
    } catch (const spdlog::spdlog_ex& failure) {
        throw Failure{
            Error{Errc::unavailable, "log file " + settings.file + ": " + failure.what()}};
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
           "debug, info, warn or error [info]")
        // Not a check: the word is to be spelt as in the table from here on.
        ->transform(CLI::IsMember{{"debug", "info", "warn", "error"}, CLI::ignore_case})
        ->type_name("LEVEL")
        ->envname("ROUTEMASTER_LOG_LEVEL")
        ->group("Log");
    app.add_option("--log-file", settings.file, "Append to this file [standard error]")
        ->type_name("FILE")
        ->envname("ROUTEMASTER_LOG_FILE")
        ->group("Log");
}

Log open_log(const LogSettings& settings) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<LevelWord>('*').set_pattern("[%Y-%m-%d %H:%M:%S.%e] %*: %v");
    auto logger = std::make_shared<spdlog::logger>("routemaster", open_sink(settings));
    logger->set_formatter(std::move(formatter));
    logger->set_level(level_of(settings.level));
    logger->flush_on(spdlog::level::debug);
    return [logger](LogLevel level, std::string_view text) {
        logger->log(level_of(level), spdlog::string_view_t{text.data(), text.size()});
    };
}

}  // namespace routemaster::service
