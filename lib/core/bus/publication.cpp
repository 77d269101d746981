#include "routemaster/publication.hpp"

#include <string>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/names.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {

Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                 std::optional<std::string> publisher, std::size_t event_data_max,
                                 const Uid& uid, TimePoint now) {
    if (publisher && !is_user_name(*publisher)) {
        return Error{Errc::invalid, "publisher: must be 1 to 64 of a-z, 0-9, :, _ and -"};
    }
    if (auto checked = check(event, rules); !checked) return checked.error();
    const auto data_size = event.data ? encoded_size(*event.data) : 0;
    if (data_size > event_data_max) {
        return Error{Errc::invalid, "data: takes " + std::to_string(data_size) +
                                        " bytes of MessagePack, more than " +
                                        std::to_string(event_data_max)};
    }
    return PublishEvent{.topic = event.topic,
                        .publisher = std::move(publisher),
                        .message = encode_message(event, now),
                        .timestamp = event.timestamp.value_or(now),
                        .uid = uid};
}

}  // namespace routemaster
