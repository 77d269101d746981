#include "ruby_rules.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/codec/canonical_message.hpp"
#include "core/store/delivery_job.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/error.hpp"
#include "routemaster/names.hpp"
#include "routemaster/url.hpp"

namespace routemaster::redis {

Result<void> check_message_for_ruby(std::string_view message, std::size_t data_max) {
    const auto checked = [data_max](std::size_t data_size, std::string_view url) -> Result<void> {
        if (data_size <= data_max) return check_url(url, "url");
        return Error{Errc::invalid, "data: takes " + std::to_string(data_size) +
                                        " bytes of MessagePack, more than the " +
                                        std::to_string(data_max) + " that Ruby workers read"};
    };
    if (const auto canonical = detail::canonical_message(message)) {
        return checked(canonical->data.size(), canonical->url);
    }
    const auto event = decode_message(message);
    if (!event) return {};
    return checked(event->data ? encoded_size(*event->data) : 0, event->url);
}

bool is_ruby_job(std::string_view queue, std::string_view job) {
    if (queue == delivery_queue) return detail::batch_of(job).has_value();
    constexpr std::array names{"autodrop", "monitor", "scrub_queues", "scrub_workers"};
    return std::any_of(names.begin(), names.end(),
                       [job](const char* name) { return job == encode_job({name}); });
}

}  // namespace routemaster::redis
