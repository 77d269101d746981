/// @file
/// One event loop of the server: a thread, a libmicrohttpd daemon, and the requests it holds.

#pragma once

#include <microhttpd.h>

#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http_server_exchange.hpp"
#include "http_server_farewells.hpp"
#include "http_server_listener.hpp"
#include "http_server_mailbox.hpp"
#include "http_server_responses.hpp"
#include "http_server_socket.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// Serves the connections that are posted to its mailbox.
///
/// libmicrohttpd runs in its external mode, on this thread alone. Its own threads would do for
/// answers given at once, but wake with one system call per request that was suspended, spread
/// connections unevenly, and cannot be stopped while one is suspended.
///
/// Thread safety: `mailbox` from any thread; `start` and `join` from the one that owns it.
class Loop {
public:
    using Mailboxes = std::vector<std::shared_ptr<Mailbox>>;

    /// `options`, `handler` and `listener` must outlive it.
    Loop(const HttpServerOptions& options, const HttpHandler& handler, Listener& listener);
    ~Loop();

    [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }

    /// Runs until the mailbox is told to stop. A loop that is given `mailboxes` also accepts, and
    /// hands clients to them in turn.
    void start(Mailboxes mailboxes);

    void join();

private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    struct StopDaemon {
        void operator()(MHD_Daemon* daemon) const noexcept { MHD_stop_daemon(daemon); }
    };

    static MHD_Result on_request(void* self, MHD_Connection* connection, const char* target,
                                 const char* method, const char* version, const char* upload,
                                 std::size_t* upload_size, void** context) noexcept;
    static void on_completed(void* self, MHD_Connection* connection, void** context,
                             MHD_RequestTerminationCode code) noexcept;
    static void on_connection(void* self, MHD_Connection* connection, void** context,
                              MHD_ConnectionNotificationCode code) noexcept;
    static void on_message(void* self, const char* format, va_list arguments) noexcept;

    void start_daemon();
    [[nodiscard]] bool watch(int descriptor, std::uint32_t events, std::uint64_t tag);

    void run();
    void wait();
    [[nodiscard]] int timeout_milliseconds();
    void accept_clients();
    void listen_again(SteadyTime now);
    void read_mail();
    void deliver(Answer& answer);
    void adopt(Connection& client);
    void run_daemon();
    [[nodiscard]] bool has_more_to_do() const;
    [[nodiscard]] bool finished() const;
    void wind_up();
    [[nodiscard]] bool unsent() const;

    MHD_Result begin(MHD_Connection* connection, void** context);
    void receive(Exchange& exchange, std::string_view data);
    void refuse(Exchange& exchange);
    MHD_Result complete(Exchange& exchange, const char* target, const char* method);
    void handle(Exchange& exchange, HttpRequest request);
    void await(Exchange& exchange);
    MHD_Result send(Exchange& exchange);
    void log(LogLevel level, const std::string& line) const noexcept;

    const HttpServerOptions& options_;
    const HttpHandler& handler_;
    Listener& listener_;
    std::shared_ptr<Mailbox> mailbox_;
    Mailboxes mailboxes_;
    std::size_t next_mailbox_ = 0;

    Socket epoll_;
    Farewells farewells_;
    Responses responses_;
    std::list<Exchange> exchanges_;  ///< Bounded by the connections: each has one at most.
    std::list<Exchange> abandoned_;  ///< Bounded by the responders that the handler keeps.
    std::size_t waiting_ = 0;        ///< How many are in the state of that name.
    bool progress_ = false;          ///< Whether the last run of the daemon called us.
    SteadyTime turn_;                ///< When this turn began.
    Mail mail_;
    std::optional<SteadyTime> stop_at_;
    std::optional<SteadyTime> listen_again_at_;
    bool closed_ = false;  ///< Nothing is handled any more.
    std::unique_ptr<MHD_Daemon, StopDaemon> daemon_;
    std::thread thread_;
};

}  // namespace routemaster::detail
