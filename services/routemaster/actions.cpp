#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "components/seconds.hpp"
#include "job_object.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/names.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/timer_action.hpp"
#include "table.hpp"

namespace routemaster::service {
namespace {

struct ActionSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    bool json = false;
    std::optional<double> delay;
    std::optional<std::int64_t> at;
    std::string id;

    std::string queue;
    std::string name;
    std::string arguments;
    std::string options;

    std::string subscriber;
    std::string topic;
    std::string publisher;
    std::string type;
    std::string url;
    std::string data;
};

void add_text(Value::Map& fields, const char* name, const std::string& text) {
    if (!text.empty()) fields.emplace_back(name, text);
}

/// Posts a timer that does what an object describes, and prints its id.
int post(const ActionSettings& settings, const char* kind, Value::Map object) {
    if (settings.delay && settings.at) throw CLI::ValidationError("--at", "is instead of --delay");
    Value::Map fields;
    fields.emplace_back(kind, std::move(object));
    if (settings.delay) fields.emplace_back("delay", from_seconds(*settings.delay).count());
    if (settings.at) fields.emplace_back("at", *settings.at);
    add_text(fields, "id", settings.id);
    const auto body = body_of(std::move(fields));
    const auto answer = BusClient{settings.bus}.demand("POST", "/v1/actions", body);
    if (settings.json) {
        std::cout << answer.body << '\n';
        return 0;
    }
    const auto posted = parse_json(answer.body).value();
    std::cout << in_line(printed(field(posted, "id"))) << ' ' << printed(field(posted, "outcome"))
              << '\n';
    return 0;
}

int push(const ActionSettings& settings) {
    auto job = job_object(settings.name, settings.arguments, settings.options);
    job.emplace_back("queue", settings.queue);
    return post(settings, "push", std::move(job));
}

void add_event(const ActionSettings& settings, Value::Map& event) {
    add_text(event, "topic", settings.topic);
    add_text(event, "type", settings.type);
    add_text(event, "url", settings.url);
    if (settings.data.empty()) return;
    auto data = parse_json(settings.data);
    if (!data) throw CLI::ValidationError("--data", data.error().context());
    event.emplace_back("data", *std::move(data));
}

int publish(const ActionSettings& settings) {
    Value::Map event;
    add_event(settings, event);
    add_text(event, "publisher", settings.publisher);
    return post(settings, "publish", std::move(event));
}

int deliver(const ActionSettings& settings) {
    Value::Map event;
    event.emplace_back("subscriber", settings.subscriber);
    add_event(settings, event);
    return post(settings, "deliver", std::move(event));
}

// --- Declarations -------------------------------------------------------------------------------

std::string check_topic_name(const std::string& name) {
    return is_topic_name(name) ? "" : "must be " + std::string{to_string(TopicRule::any)};
}

void declare_event(CLI::App& action, ActionSettings& settings) {
    action.add_option("--type", settings.type, "What happened")
        ->check(CLI::IsMember{{"create", "update", "delete", "noop"}});
    action.add_option("--url", settings.url, "URL of the thing")->type_name("URL");
    action.add_option("--data", settings.data, "A small object")->type_name("JSON");
}

void declare_push(CLI::App& action, ActionSettings& settings) {
    action.add_option("queue", settings.queue, "The queue of the job")
        ->required()
        ->check([](const std::string& name) {
            return is_queue_name(name) ? "" : "must be 1 to 64 of A-Z, a-z, 0-9, _, - and .";
        });
    action.add_option("name", settings.name, "The name of the job")->required();
    action.add_option("arguments", settings.arguments, "Its arguments: an array [[]]")
        ->type_name("JSON");
    action.add_option("--options", settings.options, "Further fields of the push: an object")
        ->type_name("JSON");
}

void declare_publish_action(CLI::App& action, ActionSettings& settings) {
    action.add_option("topic", settings.topic, "The topic of the event")
        ->required()
        ->check(check_topic_name);
    action
        .add_option("--publisher", settings.publisher,
                    "The token that publishes it, which must be valid then [nobody]")
        ->type_name("TOKEN");
    declare_event(action, settings);
}

void declare_deliver(CLI::App& action, ActionSettings& settings) {
    action.add_option("subscriber", settings.subscriber, "The token of the subscriber")->required();
    action
        .add_option("--topic", settings.topic,
                    "The topic of the event [" + std::string{action_topic} + "]")
        ->check(check_topic_name);
    declare_event(action, settings);
}

void declare_time(CLI::App& action, ActionSettings& settings) {
    action.add_option("--delay", settings.delay, "Seconds from now until it is done")
        ->check(CLI::Range(0.0, 1e12))
        ->type_name("SECONDS");
    action
        .add_option("--at", settings.at,
                    "When it is done: milliseconds since 1970, instead of that")
        ->check(CLI::Range(std::int64_t{0}, to_milliseconds(due_at_max)))
        ->type_name("MS");
    action.add_option("--id", settings.id, "Its id; a timer that has it is replaced [a fresh one]")
        ->check([](const std::string& id) { return id.empty() ? "must not be empty" : ""; });
}

}  // namespace

Run declare_actions(CLI::App& app) {
    using Work = int (*)(const ActionSettings&);
    const auto settings = std::make_shared<ActionSettings>();
    const auto work = std::make_shared<Work>();
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON");
    app.require_subcommand(1);
    app.fallthrough();
    app.footer("'routemaster timers' lists, shows, postpones and cancels them, in the namespace " +
               std::string{action_space} + ".");
    const auto declare = [&](const char* name, const char* summary, Work action) -> CLI::App& {
        auto* const declared = app.add_subcommand(name, summary);
        declare_time(*declared, *settings);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    declare_push(declare("push", "Push a job then", push), *settings);
    declare_publish_action(declare("publish", "Publish an event then", publish), *settings);
    declare_deliver(declare("deliver", "Deliver an event to one subscriber then", deliver),
                    *settings);
    return [settings, work] {
        settings->bus.token = require_root_key(settings->root_key);
        return (*work)(*settings);
    };
}

}  // namespace routemaster::service
