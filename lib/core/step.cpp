#include "routemaster/step.hpp"

#include <type_traits>

namespace routemaster {

using All = detail::AllStepsOf<StepDomains>;
static_assert(std::is_nothrow_move_constructible_v<All::Step>);
static_assert(std::is_nothrow_move_assignable_v<All::Step>);
static_assert(std::is_nothrow_move_constructible_v<All::Reply>);
static_assert(std::is_nothrow_move_assignable_v<All::Reply>);

Step::Step(const Step& other) = default;
Step::Step(Step&& other) noexcept = default;
Step& Step::operator=(const Step& other) = default;
Step& Step::operator=(Step&& other) noexcept = default;
Step::~Step() = default;

Reply::Reply(const Reply& other) = default;
Reply::Reply(Reply&& other) noexcept = default;
Reply& Reply::operator=(const Reply& other) = default;
Reply& Reply::operator=(Reply&& other) noexcept = default;
Reply::~Reply() = default;

}  // namespace routemaster
