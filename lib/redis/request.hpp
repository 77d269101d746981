/// @file
/// Builds the call of one step: script, key and arguments.

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

/// The common data of all requests of a store.
struct RequestContext {
    std::string_view prefix;
    bool mixed_fleet = false;
    std::size_t event_data_max = 0;  ///< Used with `mixed_fleet`.
    Duration timeout{0};             ///< After this time a step is in doubt.
    Duration clock_offset{0};        ///< Added to the caller's time to get the server's time.
    TimePoint now;                   ///< In the caller's time.
};

/// Returns the argument `fleet` of every script: 0, plus 1 for a mixed deployment, plus 2 for a
/// prefix with a hash tag, which may be in a cluster.
[[nodiscard]] constexpr int fleet_kind(std::string_view prefix, bool mixed_fleet) noexcept {
    return (mixed_fleet ? 1 : 0) + (prefix.find('{') != std::string_view::npos ? 2 : 0);
}

/// Data of a step that is needed to read the reply of its script.
struct AskedFor {
    std::string name{};  ///< Of a queue or a subscriber.
    Uid worker{};
    std::string handler{};  ///< Of a job or a callback.
};

/// Builds the call of one step. Begin with `on` or `on_job`.
class Request {
public:
    /// The script must outlive the call, and the context must outlive the request.
    Request(const Script& script, const RequestContext& context) : context_{context} {
        call_.script = &script;
    }

    /// Adds the key and the arguments of every script. The key decides the slot of a cluster; the
    /// scripts derive further keys from the prefix.
    Arguments& on(std::string_view key, std::string_view name = {});

    /// As above, for a script whose first arguments are the lease of a delivery.
    Arguments& on(const Lease& lease);
    /// As above, for a script whose first arguments are the lease of any job, with its id at the
    /// end.
    Arguments& on_job(const Lease& lease);

    Arguments& arguments() noexcept { return call_.arguments; }

    /// Adds the number, or an empty argument for no number.
    template <class Number>
    void add_if(const std::optional<Number>& number) {
        if (number) {
            arguments().add(*number);
        } else {
            arguments().add("");
        }
    }
    void page(const Page& page) { arguments().add(page.after).add(page.limit); }

    /// Adds the arguments of another step for its script: their number, then the arguments behind
    /// the common arguments of all scripts. Asserts a valid step.
    void add_step(const Step& step);

    /// Converts a time to the server's time.
    [[nodiscard]] std::int64_t wire(TimePoint at) const {
        return to_wire(at, context_.clock_offset);
    }

    [[nodiscard]] bool is_mixed_fleet() const noexcept { return context_.mixed_fleet; }
    /// How long a caller may still repeat a step whose reply was lost.
    [[nodiscard]] Duration repeated_within() const {
        constexpr Duration least{20'000};
        return std::max(least, (repeats_max + 2) * context_.timeout);
    }

    void remember(AskedFor asked_for) { asked_for_ = std::move(asked_for); }

    [[nodiscard]] Call take_call() { return std::move(call_); }
    [[nodiscard]] AskedFor take_asked_for() { return std::move(asked_for_); }

private:
    const RequestContext& context_;
    Call call_;
    AskedFor asked_for_;
};

}  // namespace routemaster::redis
