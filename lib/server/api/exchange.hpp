/// @file
/// An exchange: one request on its way to its answer.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../complaints.hpp"
#include "limited_reads.hpp"
#include "routemaster/action_timers.hpp"
#include "routemaster/api_tokens.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_batches.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/job_queues.hpp"
#include "routemaster/job_workers.hpp"
#include "routemaster/log.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {

/// The state that all exchanges of an `HttpApi` share. Thread safety: its members are thread safe,
/// or do not change.
struct Context {
    Context(Store& any, HttpApiOptions given)
        : store{any},
          options{std::move(given)},
          clock{options.clock == nullptr ? system_clock() : *options.clock},
          bus{store,
              {.event_data_max = options.event_data_max,
               .rules = options.event_rules,
               .clock = &clock}},
          tokens{store, clock},
          faults{options.log, LogLevel::error, "http api: "} {}
    ~Context() { large_reads->close(); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    Store& store;
    const HttpApiOptions options;
    const Clock& clock;
    Bus bus;
    const ApiTokens tokens;
    detail::Complaints faults;  ///< Reports of damage.
    const std::shared_ptr<LimitedReads> large_reads =
        std::make_shared<LimitedReads>(large_reads_max);

    static constexpr std::size_t large_reads_max = 16;
};

/// The client that sends a request.
struct Caller {
    /// The kind of the token that the client presented.
    enum class Kind {
        anyone,  ///< The route takes no token.
        client,
        root,
    };

    Kind kind = Kind::anyone;
    std::string token{};  ///< As presented; empty for anyone.

    /// Whether it may see everything about the owner of `owner`: the owner and root may.
    [[nodiscard]] bool may_see_all(std::string_view owner) const noexcept {
        return kind == Kind::root || (kind == Kind::client && token == owner);
    }
};

/// Replaces what one client may not see of another.
inline constexpr std::string_view withheld = "...";

/// A token as other clients see it: its `public_name`, or `withheld`.
[[nodiscard]] std::string_view shown_token(std::string_view token) noexcept;

/// A callback as other clients see it: scheme, host and port; of `local:TOKEN`, the token as above.
[[nodiscard]] std::string shown_callback(std::string_view callback);

/// Carries a request from the route to its answer, through as many steps as that takes. It lives as
/// long as a completion that it waits for, or a `shared_ptr` to it.
///
/// Exactly one of the `answer…`, `refuse` and `let_body_come` functions is called, once.
/// Thread safety: one thread at a time; the completions it waits for take turns.
class Exchange : public std::enable_shared_from_this<Exchange> {
public:
    Exchange(Context& context, HttpRequest request, HttpResponder respond)
        : context_{context}, request_{std::move(request)}, respond_{std::move(respond)} {}

    [[nodiscard]] const HttpRequest& request() const noexcept { return request_; }
    [[nodiscard]] const HttpApiOptions& options() const noexcept { return context_.options; }
    [[nodiscard]] Bus& bus() const noexcept { return context_.bus; }
    [[nodiscard]] const ApiTokens& tokens() const noexcept { return context_.tokens; }
    /// The queue that the path names: `/v1/queues/:queue/…`.
    [[nodiscard]] JobQueue queue() const {
        return {context_.store, std::string{segment(2)}, context_.clock};
    }
    /// All queues.
    [[nodiscard]] JobQueues queues() const { return JobQueues{context_.store, context_.clock}; }
    /// All workers.
    [[nodiscard]] JobWorkers workers() const { return JobWorkers{context_.store, context_.clock}; }
    /// All recurring jobs.
    [[nodiscard]] RecurringJobs recurring() const {
        return RecurringJobs{context_.store, context_.clock};
    }
    /// The namespace of timers that the path names: `/v1/timers/:space/…`.
    [[nodiscard]] Delayer delayer() const {
        return Delayer{context_.store, std::string{segment(2)}, context_.clock};
    }

    /// All timers with an action.
    [[nodiscard]] ActionTimers actions() const {
        return ActionTimers{context_.store, context_.clock};
    }
    /// All batches of jobs.
    [[nodiscard]] JobBatches job_batches() const {
        return JobBatches{context_.store, context_.clock};
    }
    [[nodiscard]] TimePoint now() const { return context_.clock.now(); }
    [[nodiscard]] const Caller& caller() const noexcept { return caller_; }
    /// Reads whose replies may be large.
    [[nodiscard]] LimitedReads& large_reads() const noexcept { return *context_.large_reads; }

    /// The last segment of the path, where the route leaves it open.
    [[nodiscard]] std::string last_segment() const {
        return request_.path.substr(request_.path.rfind('/') + 1);
    }

    /// A segment of the path, counted from 0; empty when it has none of that number.
    [[nodiscard]] std::string_view segment(std::size_t number) const noexcept;

    /// The path from a segment on, which may contain slashes.
    [[nodiscard]] std::string rest_of_path(std::size_t number) const {
        const auto begin = static_cast<std::size_t>(segment(number).data() - request_.path.data());
        return request_.path.substr(begin);
    }

    /// Notes which client sent the request.
    void identify(Caller caller) { caller_ = std::move(caller); }

    /// Returns a completion that passes the value of its result to `next`, as `next(Exchange&,
    /// value)`, or `next(Exchange&)` when there is none. When the result is an error, it refuses
    /// the exchange instead.
    template <class Next>
    [[nodiscard]] auto then(Next next) {
        return [exchange = shared_from_this(), next = std::move(next)](auto result) {
            result ? hand_on(*exchange, next, std::move(result)) : exchange->refuse(result.error());
        };
    }

    /// Answers 100: the server may read the body. For an exchange about authorization alone.
    void let_body_come();
    /// Answers without a body.
    void answer(int status);
    /// Answers with plain text.
    void answer_text(int status, std::string text);
    /// Answers with JSON.
    void answer_json(int status, std::string json);
    /// Answers with anything else.
    void answer_with(HttpResponse response);

    /// Answers with an error, and with the status that says what the client should do.
    void refuse(const Error& error);
    /// What a client may read of an error. What is broken inside is logged instead.
    [[nodiscard]] std::string shown(const Error& error) const;
    /// Refuses a request whose body has fields; false when there is nothing to refuse.
    [[nodiscard]] bool refuse_fields();

private:
    template <class Next, class T>
    static void hand_on(Exchange& exchange, const Next& next, Result<T> result) {
        next(exchange, *std::move(result));
    }
    template <class Next>
    static void hand_on(Exchange& exchange, const Next& next, const Result<void>&) {
        next(exchange);
    }

    Context& context_;
    const HttpRequest request_;
    HttpResponder respond_;
    Caller caller_;
};

}  // namespace routemaster::api
