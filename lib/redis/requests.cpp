#include "requests.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/codec/canonical_message.hpp"
#include "core/store/dead_error.hpp"
#include "core/store/delivery_job.hpp"
#include "core/store/published_tags.hpp"
#include "core/store/step_check.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/names.hpp"
#include "routemaster/url.hpp"
#include "scripts.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {
namespace {

/// Characters of an id that a family of siblings shares; the script counts up the rest.
constexpr std::size_t family_length = Uid::length - 3;

std::string exact(double number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return {text, end};
}

/// Makes the call of each kind of step. The arguments of each are told at the top of its script.
class Request {
public:
    explicit Request(const RequestContext& context) : context_{context} {}

    Call operator()(const PublishEvent& step) {
        begin(scripts().publish_event, "topic:", step.topic).add(step.topic);
        const auto tags = detail::published_tags(step.topic, step.publisher);
        arguments()
            .add(step.publisher.value_or(""))
            .add(step.message)
            .add(wire(step.timestamp))
            .add(step.uid.text().substr(0, family_length))
            .add(encode_counter_key({"events.published", tags}))
            .add(encode_counter_key({"events.bytes", tags}))
            .add(step.topics_max)
            .add(step.authenticate ? "1" : "");
        return take();
    }
    Call operator()(const RemoveTopic& step) {
        begin(scripts().remove_topic, "topic:", step.name).add(step.name);
        arguments().add(step.publisher.value_or(""));
        return take();
    }
    Call operator()(const ListTopics& step) {
        begin(scripts().list_topics, "topics");
        return page(step.page);
    }

    Call operator()(const Subscribe& step) {
        begin(scripts().subscribe, "subscriber:", step.token).add(step.token);
        const auto& options = step.options;
        arguments().add(options.callback).add(options.uuid);
        add_if(options.timeout ? std::optional{options.timeout->count()} : std::nullopt);
        add_if(options.max_events);
        add_if(options.max_in_flight);
        add_if(options.attempts_max);
        add_if(options.age_max ? std::optional{options.age_max->count()} : std::nullopt);
        add_if(options.dead_max);
        for (const auto& topic : step.topics) arguments().add(topic);
        return take();
    }
    Call operator()(const Unsubscribe& step) {
        begin(scripts().unsubscribe, "topics:", step.token).add(step.token).add(step.topic);
        return take();
    }
    Call operator()(const RemoveSubscriber& step) {
        begin(scripts().remove_subscriber, "subscriber:", step.token).add(step.token).add("");
        return take();
    }
    Call operator()(const ListSubscribers& step) {
        begin(scripts().list_subscribers, "subscribers");
        return page(step.page);
    }
    Call operator()(const FindSubscriber& step) {
        begin(scripts().find_subscriber, "subscribers").add(step.token);
        return take();
    }
    Call operator()(const ListBatches& step) {
        begin(scripts().list_batches, "routemaster:group:", step.token).add(step.token);
        arguments().add(step.limit);
        return take();
    }

    Call operator()(const PutToken& step) {
        begin(scripts().put_token, "api_tokens:by_token").add(step.token).add(step.name);
        return take();
    }
    Call operator()(const RemoveToken& step) {
        begin(scripts().remove_subscriber, "subscriber:", step.token).add(step.token).add("1");
        return take();
    }
    Call operator()(const FindToken& step) {
        begin(scripts().find_token, "api_tokens:by_token").add(step.token);
        return take();
    }
    Call operator()(const ListTokens& step) {
        begin(scripts().list_tokens, "api_tokens:by_token");
        return page(step.page);
    }

    Call operator()(const PushJob& step) {
        begin(scripts().push_job, "jobs:index:", step.queue).add(step.queue);
        arguments().add(step.job).add(wire(step.run_at));
        return take();
    }
    Call operator()(const AcquireJobs& step) {
        begin(scripts().acquire_jobs, "jobs:instant:", step.queue).add(step.queue);
        arguments().add(step.worker.text()).add(step.limit).add(step.known);
        return take();
    }
    Call operator()(const AckJob& step) {
        begin(scripts().ack_job, step.lease);
        return take();
    }
    Call operator()(const NackJob& step) {
        begin(scripts().nack_job, step.lease).add(wire(step.run_at));
        return take();
    }
    Call operator()(const Heartbeat& step) {
        begin(scripts().heartbeat, "workers").add(step.worker.text());
        return take();
    }
    Call operator()(const RetireWorker& step) {
        begin(scripts().retire_worker, "workers").add(step.worker.text());
        return take();
    }
    Call operator()(const ScrubWorkers& step) {
        begin(scripts().scrub_workers, "workers").add(step.silence.count());
        return take();
    }
    Call operator()(const CountJobs& step) {
        begin(scripts().count_jobs, "jobs:index:", step.queue).add(step.queue);
        return take();
    }

    Call operator()(const BeginDelivery& step) {
        begin(scripts().begin_delivery, step.lease)
            .add(step.backoff_max.count())
            .add(exact(step.jitter))
            .add(std::max(step.concurrency_max, 1U))
            .add(step.pause.count());
        return take();
    }
    Call operator()(const SettleDelivery& step) {
        begin(scripts().settle_delivery, step.lease)
            .add(step.delivered ? "1" : "0")
            .add(step.health_change)
            .add(wire(step.begun_at))
            .add(wire(step.retry_at))
            .add(step.permanent ? "1" : "0")
            .add(detail::kept_error(step.error))
            .add(std::max(step.concurrency_max, 1U));
        return take();
    }

    Call operator()(const ListDeadBatches& step) {
        begin(scripts().list_dead_batches, "routemaster:dead:", step.token).add(step.token);
        arguments().add(step.limit).add(step.after ? step.after->text() : std::string_view{});
        return take();
    }
    Call operator()(const FindDeadBatch& step) {
        begin(scripts().find_dead_batch, "routemaster:dead:", step.token).add(step.token);
        arguments().add(step.batch.text());
        return take();
    }
    Call operator()(const RedeliverDeadBatches& step) {
        begin(scripts().redeliver_dead_batches, "routemaster:dead:", step.token).add(step.token);
        return dead(step.batch);
    }
    Call operator()(const DropDeadBatches& step) {
        begin(scripts().drop_dead_batches, "routemaster:dead:", step.token).add(step.token);
        return dead(step.batch);
    }

    Call operator()(const MeasureUse&) {
        begin(scripts().measure_use, "batches:index");
        return take();
    }
    Call operator()(const DropOldestBatches& step) {
        begin(scripts().drop_oldest_batches, "batches:index").add(step.limit);
        return take();
    }

    Call operator()(const AddToCounters& step) {
        begin(scripts().add_to_counters, "counters");
        for (const auto& [key, increment] : step.increments) {
            arguments().add(encode_counter_key(key)).add(increment);
        }
        return take();
    }
    Call operator()(const ListCounters& step) {
        begin(scripts().list_counters, "counters");
        return page(step.page);
    }

private:
    [[nodiscard]] std::int64_t wire(TimePoint at) const {
        return to_wire(at, context_.clock_offset);
    }

    Arguments& arguments() { return call_.arguments; }

    /// The script, its one key, and the arguments that every script has. The key says to which slot
    /// of a cluster the call goes; the scripts derive all others from the prefix.
    Arguments& begin(const Script& script, std::string_view key, std::string_view name = {}) {
        call_.script = &script;
        std::string whole{context_.prefix};
        whole.append(key).append(name);
        return arguments()
            .add(1)
            .add(whole)
            .add(context_.prefix)
            .add(wire(context_.now))
            .add(fleet_kind(context_.prefix, context_.mixed_fleet));
    }
    Arguments& begin(const Script& script, const Lease& lease) {
        return begin(script, "jobs:index:", lease.queue)
            .add(lease.queue)
            .add(lease.job)
            .add(lease.worker.text())
            .add(lease.fence);
    }

    template <class Number>
    void add_if(const std::optional<Number>& number) {
        if (number) {
            arguments().add(*number);
        } else {
            arguments().add("");
        }
    }

    Call dead(const std::optional<Uid>& uid) {
        arguments().add(uid ? uid->text() : std::string_view{}).add(dead_moved_max);
        return take();
    }

    Call page(const Page& page) {
        arguments().add(page.after).add(page.limit);
        return take();
    }

    Call take() { return std::move(call_); }

    const RequestContext& context_;
    Call call_;
};

/// Ruby workers end at a job they do not know.
Result<void> check_fleet(const PushJob& step) {
    if (step.queue != "main" && step.queue != "aux") return {};
    if (step.queue == delivery_queue && detail::batch_of(step.job)) return {};
    return Error{Errc::invalid, "queue: " + step.queue + " belongs to Ruby workers"};
}

/// They end at an event that their own rules forbid as well. They pass over what is no event.
Result<void> check_fleet(const PublishEvent& step) {
    if (!is_topic_name(step.topic, TopicRule::ruby)) {
        return Error{Errc::invalid, "topic: must be " + std::string{to_string(TopicRule::ruby)} +
                                        ", which Ruby processes understand"};
    }
    if (const auto canonical = detail::canonical_message(step.message)) {
        return check_url(canonical->url, "url");
    }
    const auto event = decode_message(step.message);
    return event ? check_url(event->url, "url") : Result<void>{};
}

/// A name that is none by its rules breaks its lists of topics, a callback that is no URL its
/// workers.
Result<void> check_fleet(const Subscribe& step) {
    if (auto checked = check(step.token, step.topics, step.options, TopicRule::ruby); !checked) {
        return checked;
    }
    return check_url(step.options.callback, "callback", UrlRule::any);
}

/// Nothing is wrong with most steps.
template <class S>
Result<void> check_fleet(const S&) {
    return {};
}

}  // namespace

Result<Call> request(const Step& step, const RequestContext& context) {
    return std::visit(
        [&](const auto& any) -> Result<Call> {
            if (auto checked = detail::check_step(any); !checked) return checked.error();
            if (context.mixed_fleet) {
                if (auto checked = check_fleet(any); !checked) return checked.error();
            }
            return Request{context}(any);
        },
        step);
}

}  // namespace routemaster::redis
