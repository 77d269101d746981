#include "routemaster/publication.hpp"

#include <utility>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster {

Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                 std::optional<std::string> publisher, std::size_t event_data_max,
                                 const Uid& uid, TimePoint now) {
    if (auto checked = check(event, rules); !checked) return checked.error();
    if (event.data && encoded_size(*event.data) > event_data_max) {
        return Error{Errc::invalid, "data: takes more than " + std::to_string(event_data_max) +
                                        " bytes of MessagePack"};
    }
    return PublishEvent{.topic = event.topic,
                        .publisher = std::move(publisher),
                        .message = encode_message(event, now),
                        .timestamp = event.timestamp.value_or(now),
                        .uid = uid};
}

}  // namespace routemaster
