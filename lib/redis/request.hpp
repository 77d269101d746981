/// @file
/// Puts the call of one step together: its script, its key, and its arguments.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "call.hpp"
#include "routemaster/job.hpp"
#include "routemaster/outcome.hpp"
#include "routemaster/perform.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {

/// What all requests of a store have in common.
struct RequestContext {
    std::string_view prefix;
    bool mixed_fleet = false;
    std::size_t event_data_max = 0;  ///< Read with `mixed_fleet`.
    Duration timeout{0};             ///< After which a step is in doubt.
    Duration clock_offset{0};        ///< From the caller's time to the server's.
    TimePoint now;                   ///< In the caller's time.
};

/// The argument by which scripts know the fleet: 1 when it is mixed, 2 for a prefix with a hash
/// tag, which may be in a cluster, 3 for both, else 0.
[[nodiscard]] constexpr int fleet_kind(std::string_view prefix, bool mixed_fleet) noexcept {
    return (mixed_fleet ? 1 : 0) + (prefix.find('{') != std::string_view::npos ? 2 : 0);
}

/// What a step asked for and its script does not repeat.
struct AskedFor {
    std::string name{};  ///< Of a queue or a subscriber.
    Uid worker{};
    std::string handler{};  ///< Of a job, or a callback.
};

/// The call of one step, as it is made. Begin it with `on`.
class Request {
public:
    /// The script must outlive the call, the context the request.
    Request(const Script& script, const RequestContext& context) : context_{context} {
        call_.script = &script;
    }

    /// The one key, and the arguments that every script has. The key says to which slot of a
    /// cluster the call goes; the scripts derive all others from the prefix.
    Arguments& on(std::string_view key, std::string_view name = {});

    /// The same for a script that begins with the lease of a delivery.
    Arguments& on(const Lease& lease);
    /// The same for one that begins with the lease of any job: its id comes last.
    Arguments& on_job(const Lease& lease);

    /// Further arguments.
    Arguments& arguments() noexcept { return call_.arguments; }

    /// The number when there is one, else an empty argument.
    template <class Number>
    void add_if(const std::optional<Number>& number) {
        if (number) {
            arguments().add(*number);
        } else {
            arguments().add("");
        }
    }
    /// The two arguments of a list.
    void page(const Page& page) { arguments().add(page.after).add(page.limit); }

    /// What another step has for its script, beside what every script has: how many arguments, and
    /// these. Asserts that nothing is wrong with the step.
    void add_step(const Step& step);

    /// A time as the server understands it.
    [[nodiscard]] std::int64_t wire(TimePoint at) const {
        return to_wire(at, context_.clock_offset);
    }

    [[nodiscard]] bool is_mixed_fleet() const noexcept { return context_.mixed_fleet; }
    /// How long after a step its caller may still repeat it, because the reply was lost.
    [[nodiscard]] Duration repeated_within() const {
        constexpr Duration least{20'000};
        return std::max(least, (repeats_max + 2) * context_.timeout);
    }

    /// Keeps what is needed to read the reply.
    void remember(AskedFor asked_for) { asked_for_ = std::move(asked_for); }

    [[nodiscard]] Call take_call() { return std::move(call_); }
    [[nodiscard]] AskedFor take_asked_for() { return std::move(asked_for_); }

private:
    const RequestContext& context_;
    Call call_;
    AskedFor asked_for_;
};

}  // namespace routemaster::redis
