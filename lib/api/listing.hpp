/// @file
/// `Listing`: responds with a page of a list, as a JSON array with a link to the next page.

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
#include "routemaster/store/step.hpp"

namespace routemaster::api {

inline constexpr std::uint32_t page_limit_max = 1'000;

/// A page ends early after this many bytes of JSON, because unread responses occupy memory.
inline constexpr std::size_t page_bytes_max = large_answer_bytes;

struct PageQuery {
    std::string after{};
    std::uint64_t skip = 0;  ///< See `PageCursor`.
    std::uint32_t limit = page_limit_max;
};

/// Parses `after`, `skip` and `limit` (1 to `page_limit_max`) in a query string. Ignores other
/// parameters. `invalid`, naming the parameter, if a parameter is malformed.
[[nodiscard]] Result<PageQuery> page_query(std::string_view query);

/// Returns the value of a query parameter, if present. `invalid` if its encoding is malformed.
[[nodiscard]] Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                                 std::string_view name);

/// Parses an integer. Returns nothing if the text is not an integer or the integer is too large.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);

/// Returns a `Link` header (RFC 8288) to the next page, whose position is the query `where`.
[[nodiscard]] std::string next_link(std::string_view path, std::string_view where,
                                    std::uint32_t limit);

/// Asynchronous loop that reads the items of a page from the store, in several steps, and responds.
/// A large page ends early, which limits the memory of a response that the client does not read.
///
/// Items that are added or removed during the loop may be missing or present. All other items are
/// listed exactly once, in order. Thread safety: the completions of a listing run one after
/// another.
template <class Item>
class Listing : public std::enable_shared_from_this<Listing<Item>> {
public:
    using Items = Result<std::vector<Item>>;
    using Ask = void (*)(Exchange&, Page, std::function<void(Items)>);
    /// Function that returns the key of an item. The list is sorted by key.
    using Key = const std::string& (*)(const Item&);
    /// Function that prints an item, without the data that `caller` must not see.
    using Print = void (*)(std::string& json, const Item&, const Caller& caller);

    Listing(Exchange& exchange, const PageQuery& page, Keys keys, Ask ask, Key key, Print print)
        : exchange_{exchange.shared_from_this()},
          cursor_{page.after, page.skip, keys},
          limit_{page.limit},
          ask_{ask},
          key_{key},
          print_{print} {}

    /// Sends the response. The completions keep this object alive until then.
    ///
    /// If the store replies inside the call of `ask_`, this loop requests the next items. A
    /// recursive call could exhaust the stack.
    void run() {
        do {
            passed_.store(false);
            // Requests one more item, to detect whether there is a next page.
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
    /// Set by the completion, and on return from `ask_`. Whichever comes second continues the loop.
    std::atomic<bool> passed_ = false;
};

/// Responds with the page that the query requests. Root may see secret keys.
template <class Item>
void list_page(Exchange& exchange, Keys keys, typename Listing<Item>::Ask ask,
               typename Listing<Item>::Key key, typename Listing<Item>::Print print) {
    const auto page = page_query(exchange.request().query);
    if (!page) return exchange.refuse(page.error());
    if (exchange.caller().kind == Caller::Kind::root) keys = Keys::open;
    std::make_shared<Listing<Item>>(exchange, *page, keys, ask, key, print)->run();
}

}  // namespace routemaster::api
