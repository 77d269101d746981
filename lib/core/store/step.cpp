#include "core/store/step_members.hpp"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace routemaster {
namespace {

using All = detail::AllStepsOf<StepDomains>;
static_assert(std::is_nothrow_move_constructible_v<All::Step>);
static_assert(std::is_nothrow_move_constructible_v<All::Reply>);

/// Replaces the value by destroying and constructing it. A variant's assignment operator compiles
/// to more code for each alternative.
template <class Any>
Any& replace(Any& old, Any&& by) noexcept {
    if (&old == &by) return old;
    std::destroy_at(&old);
    return *std::construct_at(&old, std::move(by));
}

template <class S>
void use(S& step, const Reply& reply) {
    [[maybe_unused]] const Step any{step};
    [[maybe_unused]] const Reply same{reply.as<typename S::Reply>()};
}

/// Explicit uses, which instantiate the members declared in `step_members.hpp`.
template <class... S>
constexpr auto uses(StepList<S...> /*all*/) {
    return std::tuple{&use<S>...};
}
[[maybe_unused]] constexpr auto all_uses = uses(All::List{});

}  // namespace

Step::Step(const Step& other) = default;
Step::Step(Step&& other) noexcept = default;
Step& Step::operator=(const Step& other) { return replace(*this, Step{other}); }
Step& Step::operator=(Step&& other) noexcept { return replace(*this, std::move(other)); }
Step::~Step() = default;

Reply::Reply(const Reply& other) = default;
Reply::Reply(Reply&& other) noexcept = default;
Reply& Reply::operator=(const Reply& other) { return replace(*this, Reply{other}); }
Reply& Reply::operator=(Reply&& other) noexcept { return replace(*this, std::move(other)); }
Reply::~Reply() = default;

}  // namespace routemaster
