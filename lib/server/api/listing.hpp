/// @file
/// Tells a part of a long list of the store as one JSON array, with a link to the next part.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "call.hpp"
#include "page_query.hpp"

namespace routemaster::api {

/// Asks with steps of type `S` for as many items as the client wants, then answers. An answer ends
/// early when it gets large, so what a client does not read costs little.
///
/// Things that come or go meanwhile may be missing or told; all others are told once, in order.
/// Thread safety: none is needed; the completions of its steps take turns.
template <class S>
class Listing : public std::enable_shared_from_this<Listing<S>> {
public:
    /// What the list consists of.
    using Item = typename S::Reply::value_type;
    /// What the list is ordered by, and is asked for from.
    using Key = const std::string& (*)(const Item&);
    /// Appends an item as `caller` may see it.
    using Print = void (*)(std::string& json, const Item&, const Caller& caller);

    Listing(Call& call, PageQuery page, Key key, Print print)
        : call_{call.shared_from_this()},
          after_{std::move(page.after)},
          limit_{page.limit},
          key_{key},
          print_{print} {}

    /// Does it. `this` lives until it is done.
    ///
    /// A store may answer inside `submit`. Then the loop here goes on; asking for more from there
    /// would use up the stack.
    void run() {
        do {
            passed_.store(false);
            // One item more than is wanted tells whether there is a next part.
            const auto wanted = std::min(limit_ - told_ + 1, items_per_step);
            call_->submit(S{.page = {.after = after_, .limit = wanted}}, call_->now(),
                          [self = this->shared_from_this(), wanted](Call&, Outcome& outcome) {
                              self->take(outcome, wanted);
                              if (self->passed_.exchange(true)) self->go_on();
                          });
        } while (passed_.exchange(true) && !answered_);
    }

private:
    /// An item may be large: a subscriber has up to a thousand topics.
    static constexpr std::uint32_t items_per_step = 100;

    void go_on() {
        if (!answered_) run();
    }

    void take(Outcome& outcome, std::uint32_t wanted) {
        const auto reply = reply_of<S>(outcome);
        if (!reply) {
            answered_ = true;
            return call_->refuse(reply.error());
        }
        for (const auto& item : *reply) {
            if (told_ == limit_ || json_.size() > page_bytes_max) return answer(true);
            json_.push_back(json_.empty() ? '[' : ',');
            print_(json_, item, call_->caller());
            after_ = key_(item);
            ++told_;
        }
        if (reply->size() < wanted) answer(false);
    }

    void answer(bool more) {
        answered_ = true;
        HttpResponse response{
            200, json_.empty() ? "[]" : std::move(json_) + "]", "application/json", {}};
        if (more) {
            response.headers.emplace_back("Link", next_link(call_->request().path, after_, limit_));
        }
        call_->answer_with(std::move(response));
    }

    const std::shared_ptr<Call> call_;
    std::string after_;  ///< The key of the last item that was told.
    const std::uint32_t limit_;
    const Key key_;
    const Print print_;
    std::uint32_t told_ = 0;
    std::string json_;
    bool answered_ = false;
    /// The second to pass, of the completion and the return from `submit`, goes on.
    std::atomic<bool> passed_ = false;
};

/// Answers with the part of the list that the query asks for.
template <class S>
void tell_page(Call& call, typename Listing<S>::Key key, typename Listing<S>::Print print) {
    auto page = page_query(call.request().query);
    if (!page) return call.refuse(page.error());
    std::make_shared<Listing<S>>(call, *std::move(page), key, print)->run();
}

}  // namespace routemaster::api
