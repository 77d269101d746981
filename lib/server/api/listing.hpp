/// @file
/// Responds with a page of a list, as a JSON array with a link to the next page.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange.hpp"
#include "page_cursor.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"

namespace routemaster::api {

/// The maximum number of items of a page, and the default.
inline constexpr std::uint32_t page_limit_max = 1'000;

/// Bytes of JSON after which a page ends early. Unread responses stay in the memory of the bus.
inline constexpr std::size_t page_bytes_max = large_answer_bytes;

struct PageQuery {
    std::string after{};
    std::uint64_t skip = 0;  ///< See `PageCursor`.
    std::uint32_t limit = page_limit_max;
};

/// Reads `after`, `skip` and `limit` (1 to `page_limit_max`) from the query of a target. Ignores
/// further parameters. `invalid`, naming the parameter, if a parameter is malformed.
[[nodiscard]] Result<PageQuery> page_query(std::string_view query);

/// The value of a parameter of a query, or nothing. `invalid` if its percent-encoding is malformed.
[[nodiscard]] Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                                 std::string_view name);

/// The text as an integer. Nothing if the text is not an integer, or the integer does not fit.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);

/// The value of a `Link` header (RFC 8288) to the next page, which begins at `where`.
[[nodiscard]] std::string next_link(std::string_view path, std::string_view where,
                                    std::uint32_t limit);

/// Requests the items of a page from the store, in several steps, and responds. A large page ends
/// early, which limits the memory of a response that the client does not read.
///
/// Items that are added or removed meanwhile may be missing or present. All remaining items are
/// listed exactly once, in order. Thread safety: the completions of a listing run one after the
/// other.
template <class Item>
class Listing : public std::enable_shared_from_this<Listing<Item>> {
public:
    using Items = Result<std::vector<Item>>;
    /// Requests a page from the bus.
    using Ask = void (*)(Exchange&, Page, std::function<void(Items)>);
    /// The key of an item. The list is ordered by keys, and a page begins after a key.
    using Key = const std::string& (*)(const Item&);
    /// Appends an item, without the parts that `caller` must not see.
    using Print = void (*)(std::string& json, const Item&, const Caller& caller);

    Listing(Exchange& exchange, const PageQuery& page, Keys keys, Ask ask, Key key, Print print)
        : exchange_{exchange.shared_from_this()},
          cursor_{page.after, page.skip, keys},
          limit_{page.limit},
          ask_{ask},
          key_{key},
          print_{print} {}

    /// Responds to the request. The listing lives until then.
    ///
    /// A store may reply inside the call of `ask_`. The loop then requests the next items: a
    /// recursive call would exhaust the stack.
    void run() {
        do {
            passed_.store(false);
            // Requests one more item, which shows whether there is a next page.
            const auto wanted = std::min(limit_ - listed_ + 1, items_per_step);
            ask_(*exchange_, {.after = cursor_.after(), .limit = wanted},
                 [self = this->shared_from_this(), wanted](const Items& items) {
                     self->take(items, wanted);
                     if (self->passed_.exchange(true)) self->go_on();
                 });
        } while (passed_.exchange(true) && !answered_);
    }

private:
    /// Small, because an item may be large: a subscriber has up to a thousand topics.
    static constexpr std::uint32_t items_per_step = 100;

    void go_on() {
        if (!answered_) run();
    }

    void take(const Items& items, std::uint32_t wanted) {
        if (!items) {
            answered_ = true;
            return exchange_->refuse(items.error());
        }
        for (const auto& item : *items) {
            if (listed_ == limit_ || json_.size() > page_bytes_max) return answer(true);
            if (!cursor_.pass(key_(item))) continue;
            json_.push_back(json_.empty() ? '[' : ',');
            print_(json_, item, exchange_->caller());
            ++listed_;
        }
        if (items->size() < wanted) answer(false);
    }

    void answer(bool more) {
        answered_ = true;
        HttpResponse response{
            200, json_.empty() ? "[]" : std::move(json_) + "]", "application/json", {}};
        if (more) {
            response.headers.emplace_back(
                "Link", next_link(exchange_->request().path, cursor_.query(), limit_));
        }
        exchange_->answer_with(std::move(response));
    }

    const std::shared_ptr<Exchange> exchange_;
    PageCursor cursor_;
    const std::uint32_t limit_;
    const Ask ask_;
    const Key key_;
    const Print print_;
    std::uint32_t listed_ = 0;
    std::string json_;
    bool answered_ = false;
    /// Set when the completion has run, or when `ask_` has returned. The later of both continues.
    std::atomic<bool> passed_ = false;
};

/// Responds with the page that the query requests. Root sees secret keys.
template <class Item>
void list_page(Exchange& exchange, Keys keys, typename Listing<Item>::Ask ask,
               typename Listing<Item>::Key key, typename Listing<Item>::Print print) {
    const auto page = page_query(exchange.request().query);
    if (!page) return exchange.refuse(page.error());
    if (exchange.caller().kind == Caller::Kind::root) keys = Keys::open;
    std::make_shared<Listing<Item>>(exchange, *page, keys, ask, key, print)->run();
}

}  // namespace routemaster::api
