#include "routemaster/store/step/traits.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "routemaster/store/step.hpp"

using namespace routemaster;

namespace {

/// A step with all traits. The next steps lack one each.
struct Whole {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "whole",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }
};

struct WithoutReply {
    static constexpr StepTraits traits = Whole::traits;
    [[nodiscard]] Result<void> check() const { return {}; }
};

struct WithoutTraits {
    using Reply = Done;
    [[nodiscard]] Result<void> check() const { return {}; }
};

struct WithoutCheck {
    using Reply = Done;
    static constexpr StepTraits traits = Whole::traits;
};

struct WithoutAnswerToCheck : Whole {
    void check() const {}
};

struct Nameless : Whole {
    static constexpr StepTraits traits{
        .name = "", .repeatable = false, .changes = Changes::state, .needs = CapacityNeed::none};
};

struct ReadsOnce : Whole {
    static constexpr StepTraits traits{.name = "reads_once",
                                       .repeatable = false,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
};

struct ReadsAndGrows : Whole {
    static constexpr StepTraits traits{.name = "reads_and_grows",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::fixed};
};

struct PayloadOfNoSize : Whole {
    static constexpr StepTraits traits{.name = "payload_of_no_size",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
};

struct WithPayload : PayloadOfNoSize {
    [[nodiscard]] std::size_t payload_bytes() const { return 1; }
};

struct PayloadThatIsNotSaid : Whole {
    [[nodiscard]] std::size_t payload_bytes() const { return 1; }
};

template <class T>
concept MayOmitRepeatable = requires {
    T{.name = "a", .changes = Changes::state, .needs = CapacityNeed::none};
};
template <class T>
concept MayOmitChanges = requires {
    T{.name = "a", .repeatable = true, .needs = CapacityNeed::none};
};
template <class T>
concept MayOmitNeeds = requires {
    T{.name = "a", .repeatable = true, .changes = Changes::state};
};

template <class... S>
concept Listed = requires {
    typename StepList<S...>;
};

}  // namespace

TEST_CASE("a step without its required declarations does not compile") {
    CHECK(StepKind<Whole>);
    CHECK(StepKind<WithPayload>);
    CHECK(consistent(WithoutReply::traits));
    CHECK(!StepKind<WithoutReply>);
    CHECK(!StepKind<WithoutTraits>);
    CHECK(!StepKind<WithoutCheck>);
    CHECK(!StepKind<WithoutAnswerToCheck>);
    CHECK(!StepKind<Nameless>);
    CHECK(!StepKind<PayloadOfNoSize>);
    CHECK(!StepKind<PayloadThatIsNotSaid>);
    CHECK(!StepKind<std::string>);
    CHECK(Listed<Whole, WithPayload>);
    CHECK(!Listed<Whole, WithoutTraits>);
}

TEST_CASE("a step without one of its traits does not compile") {
    CHECK(!MayOmitRepeatable<StepTraits>);
    CHECK(!MayOmitChanges<StepTraits>);
    CHECK(!MayOmitNeeds<StepTraits>);
}

TEST_CASE("a read-only step may be repeated and needs no capacity") {
    CHECK(!StepKind<ReadsOnce>);
    CHECK(!StepKind<ReadsAndGrows>);
}

TEST_CASE("step names are unique, and each domain has its own steps") {
    CHECK(detail::AllSteps<StepList<Whole, WithPayload>>::names_differ());
    CHECK(!detail::AllSteps<StepList<Whole, WithPayload, Whole>>::names_differ());
    CHECK(std::is_same_v<DomainOf<CountJobs>, JobListSteps>);
    CHECK(std::is_same_v<DomainOf<PublishEvent>, TopicSteps>);
}

TEST_CASE("the type-erased Step reports the traits of its step") {
    CHECK(traits_of(Step{PublishEvent{}}).name == "publish_event");
    CHECK(traits_of(Step{ListCounters{}}).name == "list_counters");
    CHECK(Changes{traits_of(Step{Heartbeat{}}).changes} == Changes::liveness);
}
