#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "components/listen_settings.hpp"
#include "components/stop_signals.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::service {
namespace {

struct ListenCommandSettings {
    ListenSettings listening{.port = 17'891};
    bool quiet = false;
    bool json = false;
};

/// Printer for received batches.
///
/// Thread safety: all members may be called from any thread.
class Printer {
public:
    explicit Printer(const ListenCommandSettings& settings) : settings_{settings} {}

    /// Prints the events received at `path`. Must be called before the batch is acknowledged, so
    /// that the output is in delivery order.
    void print(std::string_view path, const Value::Array& events) {
        std::string text;
        if (settings_.json) {
            for (const auto& event : events) append_line(text, path, event);
        } else {
            text.append(path).append(": ").append(std::to_string(events.size()));
            text.append(events.size() == 1 ? " event\n" : " events\n");
            if (!settings_.quiet) {
                for (const auto& event : events) append_event(text, event);
            }
        }
        const std::lock_guard lock{mutex_};
        ++batches_;
        events_ += events.size();
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }

    void print_total() {
        const std::lock_guard lock{mutex_};
        if (settings_.json) return;
        std::printf("received %llu events in %llu batches\n",
                    static_cast<unsigned long long>(events_),
                    static_cast<unsigned long long>(batches_));
    }

private:
    static void append_line(std::string& text, std::string_view path, const Value& event) {
        text.append(R"({"path":)");
        append_json_text(text, path);
        text.append(R"(,"event":)");
        append_json(text, event);
        text.append("}\n");
    }

    static void append_event(std::string& text, const Value& event) {
        text.append("   ");
        for (const auto* key : {"topic", "type", "url", "data"}) {
            const auto* value = event.find(key);
            if (value == nullptr) continue;
            text.push_back(' ');
            const auto* word = value->get_if<std::string>();
            word != nullptr ? append_word(text, *word) : append_json(text, *value);
        }
        text.push_back('\n');
    }

    /// Appends a word, with control characters replaced, because they could control the terminal.
    static void append_word(std::string& text, std::string_view word) {
        for (const char c : word) text.push_back(static_cast<unsigned char>(c) < ' ' ? '?' : c);
    }

    const ListenCommandSettings& settings_;
    std::mutex mutex_;  // Guards the next two members, and the order of the output.
    std::uint64_t batches_ = 0;
    std::uint64_t events_ = 0;
};

HttpResponse answer(int status, std::string text) {
    return {status, std::move(text), "text/plain;charset=utf-8", {}};
}

HttpResponse receive(Printer& printer, const HttpRequest& request) {
    if (request.method != "POST") return answer(405, "POST batches here\n");
    const auto batch = parse_json(request.body);
    if (!batch) return answer(400, batch.error().context() + '\n');
    const auto* events = batch->get_if<Value::Array>();
    if (events == nullptr) return answer(400, "a batch is an array\n");
    printer.print(request.path, *events);
    return answer(204, {});
}

int listen(const ListenCommandSettings& settings) {
    StopSignals signals;
    Printer printer{settings};
    HttpServer server{{.address = settings.listening.endpoint.address,
                       .port = settings.listening.effective_port(),
                       .body_max = std::size_t{1} << 30U},
                      [&printer](const HttpRequest& request, const HttpResponder& respond) {
                          respond(receive(printer, request));
                      }};
    announce_listening(settings.listening.endpoint.address, server.port());
    signals.wait();
    server.stop(Duration{1'000});
    printer.print_total();
    return 0;
}

}  // namespace

Run declare_listen(CLI::App& app) {
    const auto settings = std::make_shared<ListenCommandSettings>();
    declare_listening(app, settings->listening, "", "");
    app.add_flag("--quiet", settings->quiet, "Print one line for each batch, without its events");
    app.add_flag("--json", settings->json, "Print one line of JSON for each event, with its path");
    return [settings] { return listen(*settings); };
}

}  // namespace routemaster::service
