#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "bus_client.hpp"
#include "command.hpp"
#include "components/byte_order_mark.hpp"
#include "components/whole_number.hpp"
#include "name_checks.hpp"
#include "publisher.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/names.hpp"

namespace routemaster::service {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct PublishSettings {
    BusSettings bus{};
    std::string topic;
    std::string type;
    std::string url;
    std::string data;
    std::optional<std::int64_t> timestamp;
    std::string file;
    std::size_t connections = 1;
    bool topic_order = false;
    bool verbose = false;
};

constexpr const char* command_name = "routemaster publish";

double seconds_since(SteadyClock::time_point began) {
    return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

/// Progress line on a terminal. Prints nothing if standard error is not a terminal.
class Progress {
public:
    void report(const Publisher& publisher) {
        if (!terminal_ || SteadyClock::now() < next_) return;
        next_ = SteadyClock::now() + std::chrono::milliseconds{200};
        const auto published = publisher.totals().published;
        std::fprintf(stderr, "\rpublished %llu events (%.0f/s) ",
                     static_cast<unsigned long long>(published),
                     static_cast<double>(published) / seconds_since(began_));
        shown_ = true;
    }

    /// Clears the line before other text is printed.
    void clear() {
        if (std::exchange(shown_, false)) std::fputs("\r\x1b[K", stderr);
    }

    [[nodiscard]] double seconds() const { return seconds_since(began_); }

private:
    const bool terminal_ = isatty(STDERR_FILENO) == 1;
    const SteadyClock::time_point began_ = SteadyClock::now();
    SteadyClock::time_point next_ = began_;
    bool shown_ = false;
};

/// Parses `{"topic": …, "type": …, "url": …}`. The whole line becomes the body of the request. The
/// bus reads the topic from the path, and ignores the topic in the body.
Result<Line> parse_line(std::string text, std::uint64_t number) {
    const auto event = parse_json(text);
    if (!event) return event.error();
    if (event->get_if<Value::Map>() == nullptr) {
        return Error{Errc::invalid, "is not an event, which is an object: {\"topic\":…}"};
    }
    const auto* name = event->find("topic");
    const auto* topic = name == nullptr ? nullptr : name->get_if<std::string>();
    if (topic == nullptr || !is_topic_name(*topic)) {
        return Error{Errc::invalid,
                     "topic: must be a text of " + std::string{to_string(TopicRule::any)}};
    }
    return Line{number, *topic, std::move(text)};
}

/// Printer for the errors of lines that were not published, up to a maximum number.
class Complaints {
public:
    /// With `all` there is no maximum.
    explicit Complaints(bool all)
        : shown_max_{all ? std::numeric_limits<std::uint64_t>::max() : 20} {}

    void report(Publisher& publisher, Progress& progress) {
        for (const auto& line : publisher.take_failed()) {
            if (shown_ == shown_max_) return;
            ++shown_;
            progress.clear();
            complain(command_name, "line " + std::to_string(line.number) + ": " + line.why);
        }
    }

    /// Prints how many further lines failed.
    void conclude(std::uint64_t failed) const {
        if (failed == shown_) return;
        const auto* const hint = shown_ == shown_max_ ? "; --verbose says why" : "";
        complain(command_name,
                 std::to_string(failed - shown_) + " more lines were not published" + hint);
    }

private:
    std::uint64_t shown_max_;
    std::uint64_t shown_ = 0;
};

/// Throws if reading has failed, which `std::getline` does not distinguish from the end of the
/// input.
void require_read(const std::istream& input, const std::string& file) {
    if (file.empty() ? std::ferror(stdin) == 0 : !input.bad()) return;
    throw std::runtime_error{"cannot read " + (file.empty() ? "standard input" : file) + ": " +
                             std::generic_category().message(errno)};
}

void publish_lines(std::istream& input, Publisher& publisher, Progress& progress,
                   Complaints& complaints) {
    std::uint64_t number = 0;
    for (std::string text; std::getline(input, text);) {
        if (++number == 1) remove_byte_order_mark(text);
        if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
        auto line = parse_line(std::move(text), number);
        if (!line) {
            publisher.reject(number, line.error().context());
        } else if (!publisher.publish(*std::move(line))) {
            return;
        }
        complaints.report(publisher, progress);
        progress.report(publisher);
    }
}

int publish_many(const PublishSettings& settings) {
    std::ifstream file;
    if (!settings.file.empty()) {
        file.open(settings.file);
        if (!file) throw std::runtime_error{"cannot read " + settings.file};
    }
    auto& input = settings.file.empty() ? std::cin : file;
    // A folder can be opened but not read, which shows only at the first read.
    input.peek();
    require_read(input, settings.file);
    input.clear();
    Publisher publisher{settings.bus, settings.connections, settings.topic_order};
    Progress progress;
    Complaints complaints{settings.verbose};
    publish_lines(input, publisher, progress, complaints);
    const int error = errno;
    const auto totals = publisher.finish();
    const auto seconds = progress.seconds();
    progress.clear();
    complaints.report(publisher, progress);
    complaints.conclude(totals.failed);
    std::printf("published %llu events in %.2f s (%.0f/s), %llu failed\n",
                static_cast<unsigned long long>(totals.published), seconds,
                static_cast<double>(totals.published) / seconds,
                static_cast<unsigned long long>(totals.failed));
    std::fflush(stdout);
    errno = error;
    require_read(input, settings.file);
    return totals.failed == 0 ? 0 : 1;
}

int publish_one(const PublishSettings& settings) {
    Value::Map event{{"type", settings.type}};
    if (!settings.url.empty()) event.emplace_back("url", settings.url);
    if (settings.timestamp) event.emplace_back("timestamp", Value{*settings.timestamp});
    if (!settings.data.empty()) event.emplace_back("data", json_of("--data", settings.data));
    const auto body = body_of(std::move(event));
    BusClient{settings.bus}.demand("POST", "/topics/" + settings.topic, body);
    return 0;
}

int publish(const PublishSettings& settings) {
    if (settings.topic.empty()) return publish_many(settings);
    if (settings.type.empty()) throw CLI::RequiredError("--type");
    if (settings.url.empty() && settings.data.empty()) throw CLI::RequiredError("--url");
    return publish_one(settings);
}

}  // namespace

Run declare_publish(CLI::App& app) {
    const auto settings = std::make_shared<PublishSettings>();
    declare_bus(app, settings->bus);
    declare_client_token(app, settings->bus)->required();

    auto* const topic = app.add_option("topic", settings->topic,
                                       "The topic of one event; without it, lines of JSON are read "
                                       "from standard input: {\"topic\":…,\"type\":…,\"url\":…}");
    topic->check(check_topic_name);
    app.add_option("--type", settings->type, "What happened")
        ->check(CLI::IsMember{{"create", "update", "delete", "noop"}})
        ->needs(topic);
    app.add_option("--url", settings->url, "URL of the object that the event is about")
        ->check(check_not_empty)
        ->type_name("URL")
        ->needs(topic);
    app.add_option("--data", settings->data, "Data of the event: a small object")
        ->check(check_not_empty)
        ->type_name("JSON")
        ->needs(topic);
    app.add_option("--timestamp", settings->timestamp, "When it happened, in ms since 1970 [now]")
        ->type_name("MS")
        ->needs(topic);

    auto* const file =
        app.add_option("--file", settings->file, "Read the lines from this file instead")
            ->check(check_not_empty)
            ->type_name("FILE")
            ->excludes(topic);
    app.add_option("--connections", settings->connections,
                   "Requests under way at once; more than 1 is faster and gives up the order of "
                   "the lines")
        ->check(whole_number(1, 256))
        ->capture_default_str()
        ->excludes(topic);
    app.add_flag("--topic-order", settings->topic_order,
                 "Keep the order of lines within each topic, even with several --connections")
        ->excludes(topic);
    app.add_flag("--verbose", settings->verbose,
                 "Print the reason for every line that is not published, not only for 20")
        ->excludes(topic)
        ->group("Many events");
    file->group("Many events");
    app.get_option("--connections")->group("Many events");
    app.get_option("--topic-order")->group("Many events");
    return [settings] { return publish(*settings); };
}

}  // namespace routemaster::service
