#include "core/store/outcomes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "routemaster/detail/boxed.hpp"
#include "routemaster/store/step.hpp"

using namespace routemaster;
using detail::Outcomes;

TEST_CASE("the outcomes of the steps of a submission are kept in order") {
    Outcomes none{0};
    CHECK(none.all().empty());
    none.replace(0, Error{Errc::unavailable, "gone"});
    CHECK(none.all().empty());

    Outcomes one{1};
    one.add([] { return Outcome{Reply{Count{3}}}; });
    auto moved = std::move(one);
    CHECK(moved.all().size() == 1);
    CHECK(moved.all().front()->as<Count>().value == 3);

    Outcomes two{2};
    two.add([] { return Outcome{Reply{Count{1}}}; });
    two.add([] { return Outcome{Error{Errc::unavailable, "gone"}}; });
    CHECK(two.all().size() == 2);
    CHECK(two.all()[0]->as<Count>().value == 1);
    CHECK(!two.all()[1]);
}

TEST_CASE("replacing the outcomes of a submission replaces each added outcome") {
    for (const auto steps : {std::size_t{1}, std::size_t{3}}) {
        Outcomes outcomes{steps};
        outcomes.add([] { return Outcome{Reply{Count{1}}}; });
        outcomes.replace(steps, Error{Errc::unavailable, "gone"});
        CHECK(outcomes.all().size() == steps);
        for (const auto& outcome : outcomes.all()) CHECK(!outcome);
    }
}

TEST_CASE("a large reply is copied, and compared by value") {
    JobStatus job;
    job.id = 7;
    static_assert(sizeof(std::optional<JobStatus>) > detail::unboxed_max);
    const Reply reply{std::optional{job}};
    Reply copy{reply};
    CHECK(copy == reply);
    CHECK(copy.as<FindJob::Reply>()->id == 7);
    copy.as<FindJob::Reply>()->id = 8;
    CHECK(reply.as<FindJob::Reply>()->id == 7);
    CHECK(copy != reply);
    CHECK_THROWS_AS(static_cast<void>(reply.as<Count>()), std::bad_variant_access);
}
