/// @file
/// A call: one request on its way to its answer.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "context.hpp"
#include "routemaster/error.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {

/// Who asks.
struct Caller {
    /// What the presented token is good for.
    enum class Kind {
        anyone,  ///< No token was asked for.
        client,
        root,
    };

    Kind kind = Kind::anyone;
    std::string token{};  ///< As presented; empty for anyone.
};

/// Carries a request from the route to its answer, through as many steps as that takes. It lives
/// for as long as a step that it waits for, or a `shared_ptr` to it.
///
/// Exactly one of the `answer…`, `refuse` and `let_body_come` functions is called, once.
/// Thread safety: one thread at a time; the completions of its steps take turns.
class Call : public std::enable_shared_from_this<Call> {
public:
    Call(Context& context, HttpRequest request, HttpResponder respond)
        : context_{context}, request_{std::move(request)}, respond_{std::move(respond)} {}

    [[nodiscard]] const HttpRequest& request() const noexcept { return request_; }
    [[nodiscard]] const HttpApiOptions& options() const noexcept { return context_.options; }
    [[nodiscard]] UidSource& uids() const noexcept { return context_.uids; }
    [[nodiscard]] TimePoint now() const { return context_.clock.now(); }
    [[nodiscard]] const Caller& caller() const noexcept { return caller_; }

    /// The last segment of the path, where the route leaves it open.
    [[nodiscard]] std::string last_segment() const {
        return request_.path.substr(request_.path.rfind('/') + 1);
    }

    /// A segment of the path, counted from 0; empty when it has none of that number.
    [[nodiscard]] std::string_view segment(std::size_t number) const noexcept;

    /// Notes who asks.
    void identify(Caller caller) { caller_ = std::move(caller); }

    /// Performs `step` as of `now` and hands its reply to `then`, as `then(Call&, Reply)`. When the
    /// step fails, the call is refused instead.
    template <class S, class Then>
    void perform(S step, TimePoint now, Then then) {
        submit(std::move(step), now, [then = std::move(then)](Call& call, Outcome& outcome) {
            auto reply = reply_of<S>(outcome);
            reply ? then(call, std::move(*reply)) : call.refuse(reply.error());
        });
    }

    /// Submits `step` as of `now` and hands its outcome to `then`, as `then(Call&, Outcome&)`.
    template <class Then>
    void submit(Step step, TimePoint now, Then then) {
        context_.store.submit({&step, 1}, now,
                              [call = shared_from_this(), then = std::move(then)](
                                  std::span<Outcome> outcomes) { then(*call, outcomes.front()); });
    }

    /// Answers that the body of the request may come: it is about admission alone.
    void let_body_come();
    /// Answers without a body.
    void answer(int status);
    /// Answers with plain text.
    void answer_text(int status, std::string text);
    /// Answers with JSON.
    void answer_json(int status, std::string json);
    /// Answers with anything else.
    void answer_with(HttpResponse response);

    /// Answers what went wrong, with the status that tells the client what to do about it.
    void refuse(const Error& error);

private:
    Context& context_;
    const HttpRequest request_;
    HttpResponder respond_;
    Caller caller_;
};

}  // namespace routemaster::api
