/// @file
/// `TcpGate`: a proxy between a client and a server that simulates network faults.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace routemaster::test {

/// Listens at 127.0.0.1, and passes bytes to another port of this machine and back.
///
/// Thread safety: all members may be called from any thread.
class TcpGate {
public:
    explicit TcpGate(std::uint16_t to);
    ~TcpGate();

    TcpGate(const TcpGate&) = delete;
    TcpGate& operator=(const TcpGate&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// Resets all connections.
    void cut();
    /// Passes `bytes` more bytes from the server, then closes the connection in an orderly way.
    void cut_after(std::size_t bytes);
    /// Passes `bytes` more bytes to the server, then resets the connection.
    void cut_request_after(std::size_t bytes);

    /// Stops passing bytes. New connections are accepted, but stay silent.
    void fall_silent();
    /// Silences one connection for ever. Connections are numbered from 0 in the order of
    /// acceptance.
    void fall_silent(std::size_t connection);
    /// Passes `bytes` more bytes from the server, and keeps the rest.
    void stall_after(std::size_t bytes);
    /// Passes the kept bytes, and all bytes from then on.
    void speak();

    /// Refuses new connections; existing connections stay.
    void refuse();
    /// Accepts new connections again.
    void admit();

    /// From now on delays all bytes by this time, in both directions.
    void delay(std::chrono::milliseconds by);

    /// From now on applies `change` to the bytes from the server, chunk by chunk.
    void falsify(std::function<void(std::string& bytes)> change);

    /// The number of accepted connections so far.
    [[nodiscard]] std::size_t connections() const;
    /// The number of bytes sent to the server so far.
    [[nodiscard]] std::size_t bytes_to_server() const;

private:
    using Clock = std::chrono::steady_clock;

    /// One direction of a connection.
    struct Way {
        struct Chunk {
            Clock::time_point at;  ///< The time of arrival.
            std::string bytes;
        };
        std::list<Chunk> delayed;
        bool ended = false;  ///< The source has closed its side.
    };
    struct Pair {
        int client;
        int server;
        Way there;
        Way back;
        std::size_t number;
        bool silent = false;
        bool over = false;
    };

    void listen(std::uint16_t port);
    void run();
    void wake() const;
    void accept();
    /// Receives the available bytes; empty when there are none.
    static std::string receive(int from, Way& way);
    void take(Pair& pair, bool from_client, bool from_server);
    void pass_on(Pair& pair);
    /// Returns false when the receiver has closed the connection.
    bool pass_on(Way& way, int to, std::optional<std::size_t>& allowance, Pair& pair, bool reset);
    static void close(Pair& pair, bool reset);
    [[nodiscard]] int timeout() const;

    const std::uint16_t to_;
    std::uint16_t port_ = 0;
    int wake_ = -1;

    mutable std::mutex mutex_;  ///< Guards the next members.
    int listener_ = -1;
    std::list<Pair> pairs_;
    std::chrono::milliseconds delay_{0};
    std::optional<std::size_t> reply_allowance_;
    std::optional<std::size_t> request_allowance_;
    std::optional<std::size_t> reply_stall_;
    std::function<void(std::string&)> falsify_;
    std::size_t connections_ = 0;
    std::size_t bytes_to_server_ = 0;
    bool silent_ = false;
    bool stopping_ = false;

    std::thread thread_;
};

}  // namespace routemaster::test
