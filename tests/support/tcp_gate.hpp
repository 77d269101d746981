/// @file
/// A gate between a client and a server, by which a test simulates network faults.

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

/// Listens at 127.0.0.1 and passes bytes on to another port of this machine, and back.
///
/// Thread safety: all members may be called from any thread.
class TcpGate {
public:
    explicit TcpGate(std::uint16_t to);
    ~TcpGate();

    TcpGate(const TcpGate&) = delete;
    TcpGate& operator=(const TcpGate&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// Ends all connections at once, by a reset.
    void cut();
    /// Passes `bytes` more from the server, then ends the connection in an orderly way.
    void cut_after(std::size_t bytes);
    /// Passes `bytes` more to the server, then resets the connection.
    void cut_request_after(std::size_t bytes);

    /// Passes nothing on any more. New connections are accepted, and get no answer.
    void fall_silent();
    /// The same for ever, for one connection, by its number from 0 in the order of acceptance.
    void fall_silent(std::size_t connection);
    /// Passes `bytes` more from the server, and keeps the rest.
    void stall_after(std::size_t bytes);
    /// Passes on the kept bytes, and everything from then on.
    void speak();

    /// Refuses new connections; existing ones stay.
    void refuse();
    /// Accepts new connections again.
    void admit();

    /// From now on delays bytes by this long, in each direction.
    void delay(std::chrono::milliseconds by);

    /// From now on changes the bytes from the server in this way, piece by piece.
    void falsify(std::function<void(std::string& bytes)> change);

    /// How many connections were accepted so far.
    [[nodiscard]] std::size_t connections() const;
    /// How many bytes went to the server so far.
    [[nodiscard]] std::size_t bytes_to_server() const;

private:
    using Clock = std::chrono::steady_clock;

    /// One direction of a connection.
    struct Way {
        struct Chunk {
            Clock::time_point at;  ///< When the bytes came.
            std::string bytes;
        };
        std::list<Chunk> delayed;
        bool ended = false;  ///< Whether its source has ended.
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
    /// The bytes that came, or nothing.
    static std::string receive(int from, Way& way);
    void take(Pair& pair, bool from_client, bool from_server);
    void pass_on(Pair& pair);
    /// False when the receiver is gone.
    bool pass_on(Way& way, int to, std::optional<std::size_t>& allowance, Pair& pair, bool reset);
    static void close(Pair& pair, bool reset);
    [[nodiscard]] int timeout() const;

    const std::uint16_t to_;
    std::uint16_t port_ = 0;
    int wake_ = -1;

    mutable std::mutex mutex_;  ///< Guards what follows.
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
