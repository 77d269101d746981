/// @file
/// Tells a long list of the store, page by page, as one JSON array.

#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "call.hpp"

namespace routemaster::api {

/// Asks for page after page with a step of type `S` until there is none left, then answers.
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

    Listing(Call& call, Key key, Print print)
        : call_{call.shared_from_this()}, key_{key}, print_{print} {}

    /// Does it. `this` lives until it is done.
    ///
    /// A store may answer inside `submit`. Then the loop here goes on; asking for the next page
    /// from there would use up the stack.
    void run() {
        do {
            passed_.store(false);
            call_->submit(S{.page = {.after = after_}}, call_->now(),
                          [self = this->shared_from_this()](Call&, Outcome& outcome) {
                              self->take(outcome);
                              if (self->passed_.exchange(true)) self->go_on();
                          });
        } while (passed_.exchange(true) && !answered_);
    }

private:
    void go_on() {
        if (!answered_) run();
    }

    void take(Outcome& outcome) {
        const auto reply = reply_of<S>(outcome);
        if (!reply) {
            answered_ = true;
            return call_->refuse(reply.error());
        }
        for (const auto& item : *reply) {
            json_.push_back(json_.empty() ? '[' : ',');
            print_(json_, item, call_->caller());
        }
        if (reply->size() >= Page{}.limit) {
            after_ = key_(reply->back());
            return;
        }
        answered_ = true;
        call_->answer_json(200, json_.empty() ? "[]" : std::move(json_) + "]");
    }

    const std::shared_ptr<Call> call_;
    const Key key_;
    const Print print_;
    std::string after_;
    std::string json_;
    bool answered_ = false;
    /// The second to pass, of the completion and the return from `submit`, goes on.
    std::atomic<bool> passed_ = false;
};

/// Answers with the whole list.
template <class S>
void tell_all(Call& call, typename Listing<S>::Key key, typename Listing<S>::Print print) {
    std::make_shared<Listing<S>>(call, key, print)->run();
}

}  // namespace routemaster::api
