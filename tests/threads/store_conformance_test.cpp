#include "routemaster/testing/store_conformance.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "routemaster/store/memory.hpp"
#include "testing/conformance/cases.hpp"

using namespace routemaster;
using namespace routemaster::testing;

namespace {

/// A store that loses each nack but replies with success.
class ForgetfulStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        for (auto& step : steps) {
            if (auto* nack = std::get_if<NackJob>(&step)) nack->run_at = never;
        }
        ForwardingStore::submit(steps, now, std::move(done));
    }
};

std::string text_of_failure(void (*act)(testing::Scenario&)) {
    MemoryStore memory;
    ForgetfulStore store{memory};
    const StoreTraits traits;
    testing::Scenario scenario{store, traits};
    try {
        act(scenario);
    } catch (const ConformanceFailure& failure) {
        return failure.what();
    }
    return "no failure";
}

}  // namespace

TEST_CASE("names of conformance cases are unique sentences") {
    std::set<std::string> names;
    for (const auto& one : store_conformance()) {
        CHECK_MESSAGE(names.insert(one.name).second, one.name);
        CHECK_MESSAGE(one.name.find(' ') != std::string::npos, one.name);
        // These characters have a meaning in names of doctest and ctest.
        CHECK_MESSAGE(one.name.find_first_of("*?[];\"\\") == std::string::npos, one.name);
    }
    CHECK(names.size() > 100);
}

TEST_CASE("a failure names the line of the expectation, and the expected and actual values") {
    int line = 0;
    try {
        line = __LINE__ + 1;
        expect_equal(PushOutcome::pushed, PushOutcome::duplicate, "pushing");
    } catch (const ConformanceFailure& failure) {
        CHECK(failure.what() == std::string{__FILE__} + ":" + std::to_string(line) +
                                    ": pushing: expected duplicate, got pushed");
    }
    CHECK(line != 0);
}

TEST_CASE("a conformance case ends at its first failure") {
    CHECK(text_of_failure([](testing::Scenario& s) {
              s.push("a");
              s.perform(NackJob{s.take_work(), s.now()});
              s.take_work();
          }).ends_with("jobs acquired from work: expected 1, got 0"));
    CHECK(text_of_failure([](testing::Scenario& s) {
              s.push("");
          }).ends_with("the step failed: job: must not be empty: invalid"));
    CHECK(text_of_failure([](testing::Scenario& s) {
              s.expect_refused(ListTopics{}, "limit");
          }).ends_with("a step with an invalid limit must fail"));
    CHECK(text_of_failure([](testing::Scenario& s) {
              s.expect_refused(ListTopics{{.after = "", .limit = 0}}, "after");
          })
              .ends_with("the error must begin with the field after, but is: limit: must be at "
                         "least 1: invalid"));
    CHECK(text_of_failure([](testing::Scenario& s) {
              const auto before = s.snapshot();
              s.publish("orders");
              expect_unchanged(s.snapshot(), before);
          }).find("topics (must not change): expected [], got [{\"orders\"") != std::string::npos);
}

TEST_CASE("the conformance suite detects a store that breaks a guarantee") {
    int failed = 0;
    for (const auto& one : store_conformance()) {
        class Owned final : public Store {
        public:
            void submit(std::span<Step> steps, TimePoint now, Completion done) override {
                outer_.submit(steps, now, std::move(done));
            }
            [[nodiscard]] Watch watch(const std::string& queue,
                                      std::function<void()> wake) override {
                return outer_.watch(queue, std::move(wake));
            }

        private:
            MemoryStore inner_;
            ForgetfulStore outer_{inner_};
        };
        try {
            one.run({.open = [] { return std::make_unique<Owned>(); },
                     .traits = {.timeout = Duration{1}, .walk_steps = 200}});
        } catch (const ConformanceFailure&) {
            ++failed;
        }
    }
    CHECK(failed >= 5);
}
