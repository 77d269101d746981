#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/published_tags.hpp"
#include "core/store/store_errors.hpp"
#include "lua_sources.hpp"
#include "redis/ruby_rules.hpp"
#include "redis/steps/protocols.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/names.hpp"
#include "routemaster/publication.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PublishEvent> {
    static Script script() {
        using namespace lua;
        const auto places = lazily("places", {ordering_group, ready, place, set_aside},
                                   "place, make_ready, set_aside");
        const auto batches = lazily(
            "batches", {expect, wake, job, callback, group_concurrency, join, fresh_uid, places},
            "expect, expect_queue, callback_in, offer_to, concurrency_in, join, fresh_uid, places");
        return compose(PublishEvent::traits, {index, counter, batches}, publish_event);
    }

    static Script joint_script() {
        return compose(
            "publish_events", script_kind(PublishEvent::traits),
            {lua::alone, lua::index, lua::counter, as_function(script_of<PublishEvent>())},
            lua::publish_events);
    }
    static bool can_join(const PublishEvent& step) { return !step.subscriber; }

    static Result<void> check_mixed_fleet(const PublishEvent& step, const RequestContext& context) {
        if (!is_topic_name(step.topic, TopicRule::ruby)) {
            return Error{Errc::invalid, "topic: must be " +
                                            std::string{to_string(TopicRule::ruby)} +
                                            ", which Ruby processes understand"};
        }
        return check_message_for_ruby(step.message, context.event_data_max);
    }

    static void request(Request& request, const PublishEvent& step) {
        // Length of the common prefix of the batch ids of one publication. The script generates the
        // remaining characters.
        constexpr std::size_t family_length = Uid::length - 3;
        // In a mixed deployment, `check_mixed_fleet` has already rejected unreadable events.
        const bool is_readable =
            request.is_mixed_fleet() || check_message_for_ruby(step.message, event_data_max_ruby);
        const auto tags = detail::published_tags(step.topic, step.publisher);
        request.on("topic:", step.topic)
            .add(step.topic)
            .add(step.publisher.value_or(""))
            .add(encode_counter_key({"events.published", tags}))
            .add(encode_counter_key({"events.bytes", tags}))
            .add(step.topics_max)
            .add(step.authenticate ? "1" : "")
            .add(batch_bytes_max)
            .add(step.subscriber.value_or(""))
            .begin_own()
            .add(step.message)
            .add(request.wire(step.timestamp))
            .add(step.uid.text().substr(0, family_length))
            .add(is_readable ? "" : "1");
    }

    static Done reply(const ScriptReply& reply) {
        switch (number(reply.value)) {
            case 1: return {};
            case 0: throw Failure{detail::topic_claimed()};
            case -1: throw Failure{detail::too_many_topics()};
            case -2: throw Failure{detail::unknown_publisher()};
            case -3: throw Failure{detail::unknown_subscriber()};
            default: throw Unexpected{};
        }
    }
};

template <>
struct StepProtocol<RemoveTopic> {
    static Script script() {
        return compose(RemoveTopic::traits, {lua::expect, lua::unindex}, lua::remove_topic);
    }
    static void request(Request& request, const RemoveTopic& step) {
        request.on("topic:", step.name).add(step.name).add(step.publisher.value_or(""));
    }
    static Removal reply(const ScriptReply& reply) {
        if (number(reply.value) < 0) throw Failure{detail::topic_claimed()};
        return removal(reply.value);
    }
};

template <>
struct StepProtocol<ListTopics> {
    static constexpr std::string_view listed_names = "topics";

    static Script script() { return compose(ListTopics::traits, {lua::page}, lua::list_topics); }
    static void request(Request& request, const ListTopics& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<Topic> reply(const ScriptReply& reply) {
        return list<Topic>(reply.value, [](const redisReply& one) {
            const auto parts = items(one, 3);
            Topic topic;
            topic.name = text(*parts[0]);
            if (!absent(*parts[1])) topic.publisher = text(*parts[1]);
            topic.events = static_cast<std::uint64_t>(number_or(*parts[2], 0));
            return topic;
        });
    }
};

template struct Protocols<TopicSteps>;

}  // namespace routemaster::redis
