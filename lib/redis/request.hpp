/// @file
/// `Request`: builds the call of a step, with script, key and arguments.

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
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {

struct RequestContext {
    std::string_view prefix;
    bool mixed_fleet = false;
    std::size_t event_data_max = 0;  ///< Maximum size of an event's data, in a mixed deployment.
    Duration timeout{0};             ///< After this time without a reply, a step is in doubt.
    Duration clock_offset{0};        ///< The server's clock minus the caller's clock.
    TimePoint now;
};

/// Returns the argument `fleet`, which every script receives: 1 for a mixed deployment (Ruby, Node
/// and routemaster processes on one server), plus 2 if the prefix has a hash tag and the server may
/// thus be in a cluster.
[[nodiscard]] constexpr int fleet_kind(std::string_view prefix, bool mixed_fleet) noexcept {
    return (mixed_fleet ? 1 : 0) + (prefix.find('{') != std::string_view::npos ? 2 : 0);
}

struct AskedFor {
    std::string name{};
    Uid worker{};
    std::string handler{};
};

/// Builder of a step's call. To be begun with `on` or `on_job`.
class Request {
public:
    /// The script must outlive the call, and the context must outlive the request.
    Request(const Script& script, const RequestContext& context) : context_{context} {
        call_.script = &script;
    }

    /// Adds the key, and the arguments that every script has. The key selects the slot in a
    /// cluster. Scripts derive further keys from the prefix.
    Arguments& on(std::string_view key, std::string_view name = {});

    /// As above, for a script whose first arguments are the lease of a delivery job.
    Arguments& on(const Lease& lease);
    /// As above, for a script whose first arguments are the lease of any job, including the job's
    /// id.
    Arguments& on_job(const Lease& lease);

    Arguments& arguments() noexcept { return call_.arguments; }

    template <class Number>
    void add_if(const std::optional<Number>& number) {
        if (number) {
            arguments().add(*number);
        } else {
            arguments().add("");
        }
    }
    void page(const Page& page) { arguments().add(page.after).add(page.limit); }

    /// Adds the arguments of another step's script: first their number, then the arguments after
    /// those that all scripts have. The step must be valid.
    void add_step(const Step& step);

    [[nodiscard]] std::int64_t wire(TimePoint at) const {
        return to_wire(at, context_.clock_offset);
    }

    [[nodiscard]] bool is_mixed_fleet() const noexcept { return context_.mixed_fleet; }
    /// For how long a caller may repeat a step whose reply was lost.
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
