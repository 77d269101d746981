#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "job_object.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/timer_action.hpp"
#include "timer_settings.hpp"

namespace routemaster::service {
namespace {

struct ActionSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    bool json = false;
    TimerDue due{};
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

/// Posts a timer with an action of this kind, described by `object`, and prints its id.
int post(const ActionSettings& settings, const char* kind, Value::Map object) {
    Value::Map fields;
    fields.emplace_back(kind, std::move(object));
    add_due(settings.due, fields);
    add_text(fields, "id", settings.id);
    const auto body = body_of(std::move(fields));
    print_posted(BusClient{settings.bus}.demand("POST", "/v1/actions", body).body, settings.json);
    return 0;
}

int push(const ActionSettings& settings) {
    auto job = job_object(settings.name, settings.arguments, settings.options);
    const auto is_queue = [](const auto& field) { return field.first == "queue"; };
    if (std::any_of(job.begin(), job.end(), is_queue)) {
        throw CLI::ValidationError("--options", "'queue' must be given as an argument");
    }
    job.emplace_back("queue", settings.queue);
    return post(settings, "push", std::move(job));
}

void add_event(const ActionSettings& settings, Value::Map& event) {
    add_text(event, "topic", settings.topic);
    add_text(event, "type", settings.type);
    add_text(event, "url", settings.url);
    if (!settings.data.empty()) event.emplace_back("data", json_of("--data", settings.data));
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

void declare_event(CLI::App& action, ActionSettings& settings) {
    action.add_option("--type", settings.type, "What happened")
        ->check(CLI::IsMember{{"create", "update", "delete", "noop"}});
    action.add_option("--url", settings.url, "URL of the object that the event is about")
        ->check(check_not_empty)
        ->type_name("URL");
    action.add_option("--data", settings.data, "Data of the event: a small object")
        ->check(check_not_empty)
        ->type_name("JSON");
}

void declare_push(CLI::App& action, ActionSettings& settings) {
    action.add_option("queue", settings.queue, "The queue of the job")
        ->required()
        ->check(check_queue_name);
    action.add_option("name", settings.name, "The name of the job")->required();
    action.add_option("arguments", settings.arguments, "Its arguments: an array [[]]")
        ->check(check_not_empty)
        ->type_name("JSON");
    action.add_option("--options", settings.options, "Further fields of the push: an object")
        ->check(check_not_empty)
        ->type_name("JSON");
}

void declare_publish_action(CLI::App& action, ActionSettings& settings) {
    action.add_option("topic", settings.topic, "The topic of the event")
        ->required()
        ->check(check_topic_name);
    action
        .add_option("--publisher", settings.publisher,
                    "The token of the publisher, which must be valid at that time [none]")
        ->check(check_not_empty)
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
        declare_due(*declared, settings->due, "the action runs");
        declare_new_id(*declared, settings->id);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    declare_push(declare("push", "Push a job at that time", push), *settings);
    declare_publish_action(declare("publish", "Publish an event at that time", publish), *settings);
    declare_deliver(declare("deliver", "Deliver an event to one subscriber at that time", deliver),
                    *settings);
    return [settings, work] {
        settings->bus.token = require_root_key(settings->root_key);
        return (*work)(*settings);
    };
}

}  // namespace routemaster::service
