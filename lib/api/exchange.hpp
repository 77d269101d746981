/// @file
/// `Exchange`: a request together with the context for its response.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http_server/complaints.hpp"
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

/// State shared by all exchanges of an `HttpApi`. Thread safety: all members are thread safe or
/// constant.
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
    detail::Complaints faults;
    const std::shared_ptr<LimitedReads> large_reads =
        std::make_shared<LimitedReads>(large_reads_max);

    static constexpr std::size_t large_reads_max = 16;
};

struct Caller {
    enum class Kind {
        anyone,  ///< The route needs no token.
        client,
        root,
    };

    Kind kind = Kind::anyone;
    std::string token{};  ///< The token in the request; empty for `anyone`.

    /// Whether the caller may see all data of the client with the token `owner`. This client and
    /// root may.
    [[nodiscard]] bool may_see_all(std::string_view owner) const noexcept {
        return kind == Kind::root || (kind == Kind::client && token == owner);
    }
};

/// Maximum bytes of a page, and thus of most large responses.
inline constexpr std::size_t large_answer_bytes = 1U << 20U;

inline constexpr std::string_view withheld = "...";

/// Redacts a token for other clients: its `public_name`, or `withheld`.
[[nodiscard]] std::string_view shown_token(std::string_view token) noexcept;

/// Redacts a callback for other clients: scheme, host and port. In `local:TOKEN`, the token is
/// redacted by `shown_token`.
[[nodiscard]] std::string shown_callback(std::string_view callback);

/// A request from its routing to its response, across any number of asynchronous calls. Pending
/// completions share ownership of the exchange.
///
/// A handler must call exactly one of the functions `answer…`, `refuse` and `let_body_come`, once.
/// Thread safety: one thread at a time. The completions of an exchange run one after another.
class Exchange : public std::enable_shared_from_this<Exchange> {
public:
    Exchange(Context& context, HttpRequest request, HttpResponder respond)
        : context_{context}, request_{std::move(request)}, respond_{std::move(respond)} {}

    [[nodiscard]] const HttpRequest& request() const noexcept { return request_; }
    [[nodiscard]] const HttpApiOptions& options() const noexcept { return context_.options; }
    [[nodiscard]] Bus& bus() const noexcept { return context_.bus; }
    [[nodiscard]] const ApiTokens& tokens() const noexcept { return context_.tokens; }
    [[nodiscard]] JobQueue queue() const {
        return {context_.store, std::string{segment(2)}, context_.clock};
    }
    [[nodiscard]] JobQueues queues() const { return JobQueues{context_.store, context_.clock}; }
    [[nodiscard]] JobWorkers workers() const { return JobWorkers{context_.store, context_.clock}; }
    [[nodiscard]] RecurringJobs recurring() const {
        return RecurringJobs{context_.store, context_.clock};
    }
    /// The namespace of timers in the path: `/v1/timers/:space/…`.
    [[nodiscard]] Delayer delayer() const {
        return Delayer{context_.store, std::string{segment(2)}, context_.clock};
    }

    [[nodiscard]] ActionTimers actions() const {
        return ActionTimers{context_.store, context_.clock};
    }
    [[nodiscard]] JobBatches job_batches() const {
        return JobBatches{context_.store, context_.clock};
    }
    [[nodiscard]] TimePoint now() const { return context_.clock.now(); }
    [[nodiscard]] const Caller& caller() const noexcept { return caller_; }
    [[nodiscard]] std::string last_segment() const {
        return request_.path.substr(request_.path.rfind('/') + 1);
    }

    /// Returns a segment of the path, counted from 0. Empty if the path has fewer segments.
    [[nodiscard]] std::string_view segment(std::size_t number) const noexcept;

    [[nodiscard]] std::string rest_of_path(std::size_t number) const {
        const auto begin = static_cast<std::size_t>(segment(number).data() - request_.path.data());
        return request_.path.substr(begin);
    }

    void identify(Caller caller) { caller_ = std::move(caller); }

    /// Calls `handler`, whose response may be large, as soon as fewer than `large_reads_max` such
    /// responses are in progress. Reserves `large_answer_bytes` before the call. If unread
    /// responses leave too little memory, the server responds with 503 without reading from the
    /// store.
    void begin_large(void (*handler)(Exchange&));

    /// Returns a completion for an asynchronous call. For a value, the completion calls
    /// `next(Exchange&, value)`, or `next(Exchange&)` for `Result<void>`. For an error, the
    /// completion calls `refuse`.
    template <class Next>
    [[nodiscard]] auto then(Next next) {
        return [exchange = shared_from_this(), next = std::move(next)](auto result) {
            result ? hand_on(*exchange, next, std::move(result)) : exchange->refuse(result.error());
        };
    }

    /// Responds with 100, which permits the server to read the body. To be called only by
    /// `HttpApi::authorize`.
    void let_body_come();
    void answer(int status);
    void answer_text(int status, std::string text);
    void answer_json(int status, std::string json);
    void answer_with(HttpResponse response);

    void refuse(const Error& error);
    /// Returns the text of an error for the client. Internal errors are logged and hidden.
    [[nodiscard]] std::string shown(const Error& error) const;
    /// Rejects a request whose body has fields. Returns whether the request was rejected.
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
    LimitedReads::Place place_;  ///< Kept until the response, after `begin_large`.
};

}  // namespace routemaster::api
