#include "routemaster/store/step/timers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/codec/msgpack_parser.hpp"
#include "core/codec/utf8.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/step/dead_timers.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/timer_action.hpp"

namespace routemaster {
namespace {

constexpr std::uint32_t listed_timers_max = 1'000;

/// Sink that stops the parser at a value without a representation in JSON. Equal keys are allowed:
/// the last counts.
class CarriedByJson {
public:
    static bool null() { return true; }
    static bool boolean(bool) { return true; }
    static bool integer(std::int64_t) { return true; }
    static bool natural(std::uint64_t) { return true; }
    static bool real(double number) { return std::isfinite(number); }
    static bool text(std::string_view text) { return detail::is_utf8(text); }
    static bool key(std::string_view name) { return detail::is_utf8(name); }
    bool begin_array(std::size_t) { return deeper(); }
    bool end_array() { return shallower(); }
    bool begin_map(std::size_t) { return deeper(); }
    bool end_map() { return shallower(); }

private:
    /// The JSON objects around the payload need two of the `json_depth_max` levels.
    bool deeper() { return ++depth_ <= json_depth_max - 2; }
    bool shallower() {
        --depth_;
        return true;
    }

    std::size_t depth_ = 0;
};

Result<void> check_space(std::string_view space) {
    if (is_timer_name(space)) return {};
    return Error{Errc::invalid, "namespace: must be " + std::string{timer_name_rule}};
}

Result<void> check_listener(std::string_view listener) {
    if (is_timer_name(listener)) return {};
    return Error{Errc::invalid, "listener: must be " + std::string{timer_name_rule}};
}

/// Validates the namespace and the id of a timer.
Result<void> check_timer(std::string_view space, std::string_view id) {
    if (auto checked = check_space(space); !checked) return checked;
    return check_timer_id(id);
}

/// Validates the namespace and, if present, the id of a DEAD timer.
Result<void> check_dead(std::string_view space, const std::optional<std::string>& id) {
    return id ? check_timer(space, *id) : check_space(space);
}

Result<void> check_due(TimePoint due_at) {
    if (is_due_time(due_at)) return {};
    return Error{Errc::invalid, "due_at: must not be before 1970, and must be less than 2^53 ms"};
}

Result<void> check_confirm_within(Duration span, Duration least) {
    if (span >= least && span <= timer_confirm_max) return {};
    return Error{Errc::invalid, "confirm_within: must be from " + std::to_string(least.count()) +
                                    " to " + std::to_string(timer_confirm_max.count()) + " ms"};
}

/// Rejects a time limit for the confirmation of a timer without retries. Such a timer is removed
/// when it fires, and a time limit would promise a second firing.
Result<void> check_confirmed(std::uint32_t retries_max, Duration confirm_within) {
    if (retries_max > 0 || confirm_within == Duration{0}) return {};
    return Error{Errc::invalid,
                 "confirm_within: is allowed only with retries, because a timer without retries is "
                 "never confirmed; set retries_max to at least 1"};
}

Result<void> check_payload(std::string_view payload, std::string_view field) {
    if (payload.size() > timer_bytes_max) {
        return Error{Errc::invalid, std::string{field} + ": must have at most " +
                                        std::to_string(timer_bytes_max) + " bytes"};
    }
    CarriedByJson check;
    if (detail::parse_msgpack(payload, check)) return {};
    return Error{Errc::invalid,
                 std::string{field} + ": must be a MessagePack value that JSON can represent"};
}

/// Validates the action of a timer, whose payload must already be valid.
Result<void> check_action(const PostTimer& step) {
    const auto payload = decode_value(step.payload);
    if (!payload) return payload.error();
    if (const auto action = timer_action(*payload); !action) {
        return Error{Errc::invalid, "payload: " + action.error().context()};
    }
    if (step.retries_max > 0) return {};
    return Error{Errc::invalid, "retries_max: must be at least 1 for a timer with an action"};
}

}  // namespace

Result<void> check_timer_id(std::string_view id) {
    if (id.empty() || id.size() > timer_id_length_max) {
        return Error{Errc::invalid,
                     "id: must have 1 to " + std::to_string(timer_id_length_max) + " bytes"};
    }
    if (detail::is_utf8(id) && id.find('\0') == std::string_view::npos) return {};
    return Error{Errc::invalid, "id: must be UTF-8 without NUL"};
}

std::string timer_watch(const std::string& space, const std::string& listener) {
    // Names contain no colon, and no queue begins with a colon. The result is therefore unambiguous
    // and differs from all queues.
    return ":timers:" + space + ":" + listener;
}

Result<void> PostTimer::check() const {
    if (auto checked = check_timer(space, id); !checked) return checked;
    if (is_dot_segment(id)) return Error{Errc::invalid, "id: must not be . or .."};
    const bool acts = space == action_space;
    if (auto checked = check_payload(payload, acts ? "action" : "payload"); !checked) {
        return checked;
    }
    if (auto checked = check_due(due_at); !checked) return checked;
    if (retries_max > timer_retries_max) {
        return Error{Errc::invalid,
                     "retries_max: must be at most " + std::to_string(timer_retries_max)};
    }
    if (auto checked = check_confirm_within(confirm_within, Duration{0}); !checked) return checked;
    if (auto checked = check_confirmed(retries_max, confirm_within); !checked) return checked;
    return acts ? check_action(*this) : Result<void>{};
}

Result<void> CancelTimer::check() const { return check_timer(space, id); }

Result<void> PostponeTimer::check() const {
    if (auto checked = check_timer(space, id); !checked) return checked;
    return check_due(due_at);
}

Result<void> FindTimer::check() const { return check_timer(space, id); }

Result<void> ListTimers::check() const {
    if (auto checked = check_space(space); !checked) return checked;
    if (state > TimerState::dead) return Error{Errc::invalid, "state: must be a state of a timer"};
    if (limit >= 1 && limit <= listed_timers_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(listed_timers_max)};
}

Result<void> CountTimers::check() const { return check_space(space); }

Result<void> TakeTimers::check() const {
    if (auto checked = check_space(space); !checked) return checked;
    if (auto checked = check_listener(listener); !checked) return checked;
    if (limit > taken_timers_max) {
        return Error{Errc::invalid, "limit: must be at most " + std::to_string(taken_timers_max)};
    }
    return check_confirm_within(confirm_within, Duration{1});
}

Result<void> ConfirmTimer::check() const { return check_space(space); }

Result<void> GiveUpTimer::check() const { return check_space(space); }

Result<void> LeaveTimers::check() const {
    if (auto checked = check_space(space); !checked) return checked;
    return check_listener(listener);
}

Result<void> RepostDeadTimers::check() const {
    if (auto checked = check_dead(space, id); !checked) return checked;
    return check_due(due_at);
}

Result<void> DropDeadTimers::check() const { return check_dead(space, id); }

}  // namespace routemaster
