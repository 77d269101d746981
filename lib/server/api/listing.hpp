/// @file
/// Answers with a page of a long list as one JSON array, with a link to the next page.

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

/// The most items of one answer, and the default.
inline constexpr std::uint32_t page_limit_max = 1'000;

/// Bytes of JSON after which an answer ends before its limit: an answer that a client does not read
/// stays in the memory of the bus.
inline constexpr std::size_t page_bytes_max = 1U << 20U;

/// The page of a list that a client requests.
struct PageQuery {
    std::string after{};
    std::uint64_t skip = 0;  ///< See `PageCursor`.
    std::uint32_t limit = page_limit_max;
};

/// Reads `after`, `skip` and `limit` (1 to `page_limit_max`) from the query of a target; ignores
/// other parameters. `invalid`, naming the parameter, when one of them is malformed.
[[nodiscard]] Result<PageQuery> page_query(std::string_view query);

/// The value of one parameter of a query, or nothing. `invalid` when it is not percent-encoded
/// properly.
[[nodiscard]] Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                                 std::string_view name);

/// Reads a whole number that is all of a text; nothing when it is none, or does not fit.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);

/// The value of a `Link` header (RFC 8288) to the next page, which begins at `where`.
[[nodiscard]] std::string next_link(std::string_view path, std::string_view where,
                                    std::uint32_t limit);

/// Requests as many items as the client wants, then answers. It ends an answer early when that gets
/// large, so an answer that a client does not read costs little memory.
///
/// Items added or removed meanwhile may be missing or listed; all others are listed once, in order.
/// Thread safety: none is needed; the completions it waits for take turns.
template <class Item>
class Listing : public std::enable_shared_from_this<Listing<Item>> {
public:
    using Items = Result<std::vector<Item>>;
    /// Requests a page from the bus.
    using Ask = void (*)(Exchange&, Page, std::function<void(Items)>);
    /// The key by which the list is ordered, and after which a page begins.
    using Key = const std::string& (*)(const Item&);
    /// Appends an item as `caller` may see it.
    using Print = void (*)(std::string& json, const Item&, const Caller& caller);

    Listing(Exchange& exchange, const PageQuery& page, Keys keys, Ask ask, Key key, Print print)
        : exchange_{exchange.shared_from_this()},
          cursor_{page.after, page.skip, keys},
          limit_{page.limit},
          ask_{ask},
          key_{key},
          print_{print} {}

    /// Answers the request; `this` lives until then.
    ///
    /// A store may reply inside the call that asks. Then the loop here asks for more: to ask from
    /// within the reply would exhaust the stack.
    void run() {
        do {
            passed_.store(false);
            // One item more than is wanted shows whether there is a next page.
            const auto wanted = std::min(limit_ - listed_ + 1, items_per_step);
            exchange_->large_reads().begin(
                [self = this->shared_from_this(), wanted](LimitedReads::Place place) {
                    self->ask_(*self->exchange_, {.after = self->cursor_.after(), .limit = wanted},
                               [self, wanted, place = std::move(place)](const Items& items) {
                                   self->take(items, wanted);
                                   if (self->passed_.exchange(true)) self->go_on();
                               });
                });
        } while (passed_.exchange(true) && !answered_);
    }

private:
    /// An item may be large: a subscriber has up to a thousand topics.
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
    /// Set by the first to arrive of the completion and the return from `ask_`; the second goes on.
    std::atomic<bool> passed_ = false;
};

/// Answers with the page of the list that the query requests. Root sees secret keys.
template <class Item>
void list_page(Exchange& exchange, Keys keys, typename Listing<Item>::Ask ask,
               typename Listing<Item>::Key key, typename Listing<Item>::Print print) {
    const auto page = page_query(exchange.request().query);
    if (!page) return exchange.refuse(page.error());
    if (exchange.caller().kind == Caller::Kind::root) keys = Keys::open;
    std::make_shared<Listing<Item>>(exchange, *page, keys, ask, key, print)->run();
}

}  // namespace routemaster::api
