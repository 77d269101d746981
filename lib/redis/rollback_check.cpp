#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rollback_server.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/error.hpp"
#include "routemaster/names.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/redis_rollback.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/url.hpp"
#include "ruby_rules.hpp"
#include "script_reply.hpp"
#include "step_call.hpp"

namespace routemaster {
namespace {

struct Occurrences {
    std::uint64_t count = 0;
    std::string first;

    void add(std::string_view one) {
        if (count++ == 0) first = one;
    }
};

std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

class RollbackCheck {
public:
    RollbackCheck(const RedisOptions& server, RollbackOptions options)
        : server_{server}, options_{options}, store_{server}, keys_{server} {}

    std::vector<RollbackFinding> run() {
        check_batches();
        check_subscribers();
        check_topics();
        check_jobs("main");
        check_jobs("aux");
        check_actions();
        check_recurring();
        check_places();
        check_queues();
        return std::move(findings_);
    }

private:
    void found(std::string what, std::string remedy) {
        findings_.push_back({true, std::move(what), std::move(remedy)});
    }
    void stays(std::string what, std::string remedy) {
        findings_.push_back({false, std::move(what), std::move(remedy)});
    }

    template <class S>
    [[nodiscard]] typename S::Reply ask(S step) {
        return perform(store_, std::move(step), system_clock().now()).value();
    }

    template <class S, class Name, class Each>
    void each_of(Name name, Each each) {
        S step{};
        while (true) {
            const auto page = ask(step);
            for (const auto& one : page) each(one);
            if (page.size() < step.page.limit) return;
            step.page.after = name(page.back());
        }
    }

    /// Why Ruby workers cannot parse the batch. Nothing if they can.
    [[nodiscard]] std::optional<std::string> refusal_of(
        const redis::RollbackServer::Batch& batch) const {
        for (const auto& message : batch.messages) {
            const auto checked = redis::check_message_for_ruby(message, server_.event_data_max);
            if (!checked) return checked.error().context();
        }
        return std::nullopt;
    }

    void check_batches() {
        struct Unreadable {
            Occurrences seen;  ///< Batches that Ruby workers can acquire, but not parse.
            Occurrences set_aside;
        };
        std::map<std::string, Unreadable> of_subscriber;
        std::vector<std::string> to_set_aside;
        keys_.each_queued_batch([&](const auto& batch) {
            const auto why = refusal_of(batch);
            if (!why) return;
            auto& unreadable = of_subscriber[batch.subscriber];
            const bool is_seen = !batch.is_set_aside && !options_.set_aside;
            (is_seen ? unreadable.seen : unreadable.set_aside).add(batch.uid + ": " + *why);
            if (!batch.is_set_aside) to_set_aside.push_back(batch.uid);
        });
        Occurrences dead;
        keys_.each_dead_batch([&](const auto& batch) {
            if (batch.is_set_aside || !refusal_of(batch)) return;
            dead.add(batch.uid);
            to_set_aside.push_back(batch.uid);
        });
        if (options_.set_aside) keys_.set_aside(to_set_aside);

        for (const auto& [token, unreadable] : of_subscriber) {
            const auto describe = [&, &token = token](const Occurrences& batches) {
                return counted(batches.count, "batch", "batches") + " of '" + public_part(token) +
                       "' with an event that no Ruby worker can read, the first " + batches.first;
            };
            if (unreadable.seen.count > 0) {
                found(describe(unreadable.seen) +
                          "; a Ruby worker terminates when it acquires such a batch",
                      "run this command with --set-aside before any Ruby worker starts");
            }
            if (unreadable.set_aside.count > 0) {
                found(describe(unreadable.set_aside),
                      "let a routemaster-worker with --mixed-fleet deliver them (Ruby workers do "
                      "not see them), or drop them (routemaster batches drop)");
            }
        }
        if (dead.count > 0 && !options_.set_aside) {
            found(counted(dead.count, "DEAD batch", "DEAD batches") +
                      " with an event that no Ruby worker can read, the first " + dead.first +
                      "; a Ruby worker terminates when it acquires such a batch after a redelivery",
                  "run this command with --set-aside, or drop them (routemaster dead drop)");
        }
    }

    void check_subscribers() {
        std::uint64_t groups = 0;
        std::vector<std::string> tokens;
        const auto count_groups = [&] { groups += keys_.groups(std::exchange(tokens, {})); };
        each_of<ListSubscribers>(
            [](const SubscriberStatus& status) { return status.subscription.token; },
            [&](const SubscriberStatus& status) {
                check_callback(status.subscription);
                tokens.push_back(status.subscription.token);
                if (tokens.size() == 500) count_groups();
            });
        count_groups();
        if (groups > 0) {
            found(counted(groups, "ordering group", "ordering groups"), unblocking);
        }
    }

    void check_callback(const Subscription& subscription) {
        if (check_url(subscription.callback, "callback", UrlRule::any) &&
            !subscription.callback.starts_with(local_scheme)) {
            return;
        }
        found("the callback of '" + public_part(subscription.token) + "', " +
                  public_url(subscription.callback) + ", is not a URL",
              "subscribe again with a URL, or remove the subscriber");
    }

    void check_topics() {
        each_of<ListTopics>(
            [](const Topic& topic) { return topic.name; },
            [&](const Topic& topic) {
                if (is_topic_name(topic.name, TopicRule::ruby)) return;
                found("the topic '" + topic.name +
                          "'; with this topic, GET /topics of a Ruby web process returns 500",
                      "publish under a name of " + std::string{to_string(TopicRule::ruby)} +
                          ", then DELETE /topics/" + topic.name);
            });
    }

    void check_jobs(const std::string& queue) {
        Occurrences unknown;
        const auto look = [&](std::string_view job) {
            if (redis::is_ruby_job(queue, job)) return;
            const auto decoded = decode_job(job);
            unknown.add(decoded ? decoded->name : "(not a job)");
        };
        for (const char* place : {"jobs:instant:", "jobs:scheduled:"}) {
            keys_.each_entry(place + queue, look);
        }
        keys_.each_entry("jobs:pending:index:" + queue, [&](std::string_view worker) {
            keys_.each_entry("jobs:pending:" + queue + ":" + std::string{worker}, look);
        });
        if (unknown.count == 0) return;
        found(counted(unknown.count, "job", "jobs") + " of '" + queue +
                  "' that Ruby workers do not know, the first '" + unknown.first +
                  "'; a Ruby worker terminates when it acquires such a job",
              queue == "aux" ? "a routemaster-worker with --mixed-fleet sets such jobs aside "
                               "within a second, and leased jobs when their leases end"
                             : "let the program that pushed these jobs run them");
    }

    /// Why a mixed deployment (Ruby, Node and routemaster processes on one server) would reject the
    /// action of a timer. Nothing if the action is accepted.
    [[nodiscard]] std::optional<std::string> refusal_of(const Value& payload) const {
        const auto action = timer_action(payload);
        if (!action) return action.error().context();
        const auto step = step_of(*action);
        if (!step) return step.error().context();
        const redis::RequestContext context{.prefix = server_.prefix,
                                            .mixed_fleet = true,
                                            .event_data_max = server_.event_data_max,
                                            .now = TimePoint{}};
        const auto call = redis::step_call(*step, context);
        if (call) return std::nullopt;
        return std::string{action_word(*action)} + ": " + call.error().context();
    }

    /// The step that performs an action, reduced to the content that Ruby processes use.
    static Result<Step> step_of(const TimerAction& action) {
        if (const auto* const push = std::get_if<PushAction>(&action)) {
            return Step{PushJob{push->queue, encode_job(push->job), TimePoint{}}};
        }
        const auto* const deliver = std::get_if<DeliverAction>(&action);
        const auto& event = deliver ? deliver->event : std::get<PublishAction>(action).event;
        auto step =
            publication(event, {}, std::nullopt, event_data_max_default, Uid{1, 1}, TimePoint{});
        if (!step) return step.error();
        return Step{*std::move(step)};
    }

    void check_actions() {
        std::uint64_t waiting = 0;
        for (const auto state : {TimerState::pending, TimerState::fired}) {
            ListTimers step{.space = std::string{action_space}, .state = state};
            while (true) {
                const auto page = ask(step);
                for (const auto& timer : page) check_action("the timer '" + timer.id + "'", timer);
                waiting += page.size();
                if (page.size() < step.limit) break;
                step.from = page.back().at;
                step.after = page.back().id;
            }
        }
        if (waiting > 0) {
            stays(counted(waiting, "timer", "timers") + " with an action",
                  "only a routemaster-worker runs timers with actions");
        }
    }
    void check_action(const std::string& name, const TimerStatus& timer) {
        if (const auto why = refusal_of(timer.payload)) {
            found(
                name + " becomes DEAD at its due time in a mixed deployment: " + *why,
                "wait until the timer has fired, or cancel the timer (routemaster timers cancel)");
        }
    }

    void check_recurring() {
        std::uint64_t count = 0;
        each_of<ListRecurringJobs>(
            [](const RecurringJob& job) { return job.name; },
            [&](const RecurringJob& job) {
                ++count;
                const auto& timer = job.settings.timer;
                if (!timer || timer->space != action_space) return;
                const auto payload = decode_value(timer->payload);
                const auto why = payload ? refusal_of(*payload) : std::nullopt;
                if (!why) return;
                found("the recurring job '" + job.name +
                          "' posts timers that become DEAD in a mixed deployment: " + *why,
                      "change or remove the recurring job (routemaster recurring remove)");
            });
        if (count > 0) {
            stays(counted(count, "recurring job", "recurring jobs"),
                  "only a routemaster-worker runs their ticks");
        }
    }

    void check_places() {
        const auto counts = keys_.counts();
        if (counts.blocked > 0) {
            found(counted(counts.blocked, "delivery waits", "deliveries wait") +
                      " in an ordering group, which Ruby workers do not read",
                  unblocking);
        }
        if (counts.elsewhere > 0) {
            found(counted(counts.elsewhere, "delivery is", "deliveries are") +
                      " in lists that Ruby workers do not read: to a callback in a process, or set "
                      "aside",
                  "wait until the program with the callback, or a routemaster-worker, has made the "
                  "delivery");
        }
        if (counts.aux > 0) {
            stays(counted(counts.aux, "job", "jobs") + " of 'aux' set aside",
                  "only a worker pool of routemaster runs them, once no worker has --mixed-fleet");
        }
        if (counts.dead > 0) {
            stays(counted(counts.dead, "DEAD batch", "DEAD batches"),
                  "no Ruby process lists DEAD batches: redeliver or drop them (routemaster dead)");
        }
    }

    void check_queues() {
        std::uint64_t jobs = 0;
        each_of<ListQueues>([](const ListedQueue& queue) { return queue.name; },
                            [&](const ListedQueue& queue) {
                                if (is_ruby_queue(queue.name)) return;
                                const auto& status = queue.status;
                                jobs += status.scheduled + status.ready + status.pending;
                            });
        if (jobs > 0) {
            stays(counted(jobs, "job", "jobs") + " in queues that Ruby workers do not read",
                  "only workers of routemaster run them");
        }
    }

    static constexpr const char* unblocking =
        "a routemaster-worker with --mixed-fleet removes them within seconds, if no routemaster "
        "process runs without this flag";

    const RedisOptions& server_;
    const RollbackOptions options_;
    RedisStore store_;
    redis::RollbackServer keys_;
    std::vector<RollbackFinding> findings_;
};

}  // namespace

Result<std::vector<RollbackFinding>> check_rollback(const RedisOptions& server,
                                                    RollbackOptions options) {
    try {
        return RollbackCheck{server, options}.run();
    } catch (const Failure& failure) {
        return failure.error();
    } catch (const redis::Unexpected&) {
        return Error{Errc::corrupted, "the server's reply is not what the script promises"};
    }
}

}  // namespace routemaster
