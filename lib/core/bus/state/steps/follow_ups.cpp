#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/bus/state/topic_domain.hpp"
#include "core/store/store_errors.hpp"

namespace routemaster::detail {

Result<void> TopicDomain::may_publish_all(const std::vector<PublishEvent>& publications) {
    // The changes that earlier publications in the list will have made.
    std::map<std::string_view, const std::string*> owners;
    std::map<std::string_view, std::uint32_t> claims;
    for (std::size_t i = 0; i < publications.size(); ++i) {
        const auto& publication = publications[i];
        const auto claimed = owners.find(publication.topic);
        const auto* owner = claimed != owners.end() ? claimed->second
                                                    : owner_of(registry_.topic(publication.topic));
        const auto& publisher = publication.publisher;
        const auto further = publisher ? claims[*publisher] : 0;
        if (auto may = may_publish(publication, owner, further); !may) {
            return at_place("publications", i, may.error());
        }
        if (owner != nullptr || !publisher) continue;
        owners[publication.topic] = &*publisher;
        ++claims[*publisher];
    }
    return {};
}

void TopicDomain::publish_all(const std::vector<PublishEvent>& publications) {
    for (const auto& publication : publications) {
        publish(publication, registry_.topic(publication.topic));
    }
}

}  // namespace routemaster::detail
