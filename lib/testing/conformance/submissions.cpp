#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cases.hpp"
#include "threads.hpp"

namespace routemaster::testing {

void add_submission_cases(StoreCases& add) {
    add("steps of one submission are performed in order, each after the effects of the step before",
        [](Scenario& s) {
            const auto worker = Scenario::worker(1);
            std::vector<Step> steps{CountJobs{work_queue},
                                    PushJob{work_queue, "a", s.now()},
                                    PushJob{work_queue, "a", s.now()},
                                    AcquireJobs{.queue = work_queue, .worker = worker},
                                    CountJobs{work_queue},
                                    RetireWorker{worker},
                                    CountJobs{work_queue}};
            const auto outcomes = perform_all(s.store(), steps, s.now());
            expect_equal(outcomes.size(), 7U, "number of outcomes");
            const auto is = [&](std::size_t i, const auto& expected, Where at = Where::here()) {
                expect(outcomes[i].has_value(), "step " + std::to_string(i) + " failed", at);
                const auto* got = std::get_if<std::decay_t<decltype(expected)>>(&*outcomes[i]);
                expect(got != nullptr,
                       "reply must have the type of its step, at " + std::to_string(i), at);
                expect_equal(*got, expected, "reply " + std::to_string(i), at);
            };
            is(0, QueueStatus{});
            const auto id = std::get<Acquired>(*outcomes[3]).leases.at(0).id;
            is(1, Pushed{PushOutcome::pushed, id});
            is(2, Pushed{PushOutcome::duplicate, id});
            expect_equal(std::get<Acquired>(*outcomes[3]).leases.size(), 1U,
                         "number of jobs acquired");
            is(4, QueueStatus{.pending = 1});
            is(5, ReleasedJobs{1});
            is(6, QueueStatus{.ready = 1});
        });

    add("a refused step does not stop the rest of its submission", [](Scenario& s) {
        std::vector<Step> steps{PushJob{work_queue, "a", s.now()}, PushJob{work_queue, "", s.now()},
                                PushJob{work_queue, "b", s.now()}};
        const auto outcomes = perform_all(s.store(), steps, s.now());
        expect_equal(outcomes.size(), 3U, "number of outcomes");
        expect(outcomes[0].has_value() && outcomes[2].has_value(), "the valid steps must succeed");
        expect(!outcomes[1] && outcomes[1].error().code() == Errc::invalid,
               "the invalid step must fail with 'invalid'");
        expect_equal(s.queue(work_queue), QueueStatus{.ready = 2}, "jobs");
    });

    add("every submission completes once, with as many outcomes as it has steps", [](Scenario& s) {
        struct Answers {
            std::mutex mutex;  // Guards `sizes`.
            std::vector<std::size_t> sizes;
        };
        // Shared, because a store may wrongly call the completion after the case has ended.
        const auto answers = std::make_shared<Answers>();
        const auto answered = std::make_shared<Signal>();
        std::uint64_t submissions = 0;
        for (const std::size_t size : {1U, 3U, 0U, 40U}) {
            std::vector<Step> steps(size, Step{ListTopics{}});
            s.store().submit(steps, s.now(), [=](std::span<Outcome> outcomes) {
                {
                    const std::lock_guard lock{answers->mutex};
                    answers->sizes.push_back(outcomes.size());
                }
                answered->raise();
            });
            expect(answered->wait_beyond(submissions++, s.traits().timeout),
                   "each submission must complete");
        }
        s.perform(ListTopics{});
        const std::lock_guard lock{answers->mutex};
        expect_equal(answers->sizes, std::vector<std::size_t>{1, 3, 0, 40}, "number of outcomes");
    });

    add("a blocking call inside a completion returns at once", [](Scenario& s) {
        // A store without a thread calls completions inside `submit`, and performs the inner step
        // as usual. A store with a thread rejects the inner step as invalid, because its thread
        // would wait for itself.
        const auto inside = std::make_shared<std::optional<Result<Done>>>();
        const auto answered = std::make_shared<Signal>();
        auto& store = s.store();
        const auto now = s.now();
        submit(store, PutToken{"outer--key", "outer"}, now, [=, &store](const Result<Done>&) {
            *inside = perform(store, PutToken{"inner--key", "inner"}, now);
            answered->raise();
        });
        expect(answered->wait_beyond(0, s.traits().timeout),
               "the blocking call must return inside the completion");
        const auto& reply = **inside;
        if (!reply) {
            expect(reply.error().code() == Errc::invalid,
                   "the error must be 'invalid', but is: " + reply.error().message());
            expect(reply.error().context().find("`done`") != std::string::npos,
                   "the error must mention `done`, but is: " + reply.error().message());
        }
        const std::size_t tokens = reply ? 2 : 1;
        expect_equal(s.perform(ListTokens{}).size(), tokens, "tokens");
    });

    add("each of eight threads gets the outcomes of its own steps", [](Scenario& s) {
        in_threads(8, [&](unsigned thread) {
            const auto mine = "worker-" + std::to_string(thread);
            for (int i = 0; i < 30; ++i) {
                const auto name = "round-" + std::to_string(i);
                std::vector<Step> steps{PutToken{mine, name}, FindToken{mine}};
                const auto outcomes = perform_all(s.store(), steps, s.now());
                expect(outcomes.at(1).has_value(), "the search for the token must succeed");
                expect_equal(std::get<std::optional<std::string>>(*outcomes[1]),
                             std::optional{name}, "name of the token " + mine);
            }
        });
        expect_equal(s.perform(ListTokens{}).size(), 8U, "tokens");
    });

    add("a reply with more than a thousand entries arrives complete", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        std::vector<Step> steps;
        for (int i = 0; i < 1'200; ++i) {
            steps.push_back(PublishEvent{.topic = "orders",
                                         .publisher = shop,
                                         .message = std::to_string(i),
                                         .timestamp = s.now(),
                                         .uid = s.uid()});
        }
        expect_equal(perform_all(s.store(), steps, s.now()).size(), 1'200U, "number of outcomes");
        expect_equal(s.batches("billing").size(), 1'200U, "batches");
        expect_equal(s.perform(ListBatches{.token = "billing"}).size(), 1'000U,
                     "batches listed by default");
    });
}

}  // namespace routemaster::testing
