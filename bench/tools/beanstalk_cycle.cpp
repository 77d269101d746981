// Takes jobs through a beanstalkd server, for benchmarks: put, reserve, delete.
//
//   bench_beanstalk_cycle --port PORT --count N --in-flight N --connections N
//                         [--put-first | --stay]
//
// At any time `--in-flight` jobs are between their put and the reply to their delete. They are
// distributed over the connections. Each connection sends its commands in batches, and sends a
// reserve only for a job that was put before, so that no reserve waits. The program has one thread.
// The tube must be empty before, and is empty at the end. With --put-first, all jobs are put before
// the measurement, which covers only reserve and delete. With --stay, jobs are only put. Prints one
// JSON line.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "jobs.hpp"
#include "options.hpp"
#include "run.hpp"

namespace {

struct Settings {
    std::uint16_t port = 11'300;
    std::uint64_t count = 200'000;
    std::uint64_t warm_up = 20'000;
    std::uint32_t in_flight = 1'024;
    std::uint32_t connections = 1;
    bool put_first = false;
    bool stay = false;
};

/// The measured part of a job's life.
enum class Part : std::uint8_t { all, put, take };

void check(bool succeeded) {
    if (!succeeded) throw std::system_error{errno, std::generic_category()};
}

/// The work shared by all connections.
class Work {
public:
    Work(std::uint64_t count, Part part) : part_{part}, over_(count), open_{count} {}

    [[nodiscard]] Part part() const noexcept { return part_; }

    [[nodiscard]] bool done() const noexcept { return open_ == 0; }
    [[nodiscard]] bool has_next() const noexcept { return next_ < over_.size(); }
    [[nodiscard]] std::string next() { return bench::numbered_job(next_++); }

    void reserved(std::string_view job) {
        const auto n = bench::number_of(job);
        if (n >= over_.size() || over_[n]) throw std::runtime_error{"a job came twice"};
        over_[n] = true;
    }
    void ended() noexcept { --open_; }

private:
    Part part_;
    std::uint64_t next_ = 0;
    std::vector<bool> over_;
    std::uint64_t open_;
};

/// A connection. `flush` sends the collected commands.
class Connection {
public:
    explicit Connection(std::uint16_t port) : socket_{socket(AF_INET, SOCK_STREAM, 0)} {
        check(socket_ >= 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        const int on = 1;
        check(setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    }
    ~Connection() { close(socket_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] int socket_number() const noexcept { return socket_; }

    /// Starts the next job.
    void begin(Work& work) {
        const auto job = work.next();
        if (work.part() == Part::take) {
            out_.append("reserve\r\n");
            return awaited_.push_back(Answer::reserved);
        }
        out_.append("put 0 0 3600 ").append(std::to_string(job.size())).append("\r\n");
        out_.append(job).append("\r\n");
        awaited_.push_back(Answer::inserted);
    }

    void flush() {
        while (!out_.empty()) {
            const auto sent = send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EAGAIN) return;
            check(sent > 0);
            out_.erase(0, static_cast<std::size_t>(sent));
        }
    }

    [[nodiscard]] bool has_more_to_send() const noexcept { return !out_.empty(); }

    /// Reads and handles the available bytes.
    void receive(Work& work) {
        constexpr std::size_t space = 64U << 10U;
        const auto before = in_.size();
        in_.resize(before + space);
        const auto got = recv(socket_, in_.data() + before, space, 0);
        if (got == 0) throw std::runtime_error{"the server has closed a connection"};
        check(got > 0);
        in_.resize(before + static_cast<std::size_t>(got));
        std::size_t taken = 0;
        while (const auto size = answer(std::string_view{in_}.substr(taken), work)) taken += size;
        in_.erase(0, taken);
    }

private:
    enum class Answer : std::uint8_t { inserted, reserved, deleted };

    /// Consumes one reply at the beginning of `bytes`. Returns the size of the reply; 0 when it is
    /// incomplete.
    std::size_t answer(std::string_view bytes, Work& work) {
        const auto end = bytes.find("\r\n");
        if (end == std::string_view::npos) return 0;
        const auto line = bytes.substr(0, end);
        if (awaited_.empty()) throw std::runtime_error{"an answer too many"};
        switch (awaited_.front()) {
            case Answer::inserted:
                expect(line.starts_with("INSERTED "), line);
                if (work.part() == Part::put) {
                    end_one(work);
                } else {
                    ask("reserve\r\n", Answer::reserved);
                }
                return end + 2;
            case Answer::reserved: return reserved(bytes, line, work);
            case Answer::deleted:
                expect(line == "DELETED", line);
                end_one(work);
                return end + 2;
        }
        return 0;
    }

    /// RESERVED id bytes, then the job on the next line.
    std::size_t reserved(std::string_view bytes, std::string_view line, Work& work) {
        expect(line.starts_with("RESERVED "), line);
        const auto id = line.substr(9, line.find(' ', 9) - 9);
        const auto length = line.substr(9 + id.size() + 1);
        std::size_t size = 0;
        std::from_chars(length.data(), length.data() + length.size(), size);
        const auto whole = line.size() + 2 + size + 2;
        if (bytes.size() < whole) return 0;
        work.reserved(bytes.substr(line.size() + 2, size));
        ask(std::string{"delete "}.append(id).append("\r\n"), Answer::deleted);
        return whole;
    }

    /// A job is done; starts the next one.
    void end_one(Work& work) {
        awaited_.pop_front();
        work.ended();
        if (work.has_next()) begin(work);
    }

    void ask(std::string_view command, Answer awaited) {
        awaited_.pop_front();
        out_.append(command);
        awaited_.push_back(awaited);
    }

    static void expect(bool right, std::string_view line) {
        if (!right) throw std::runtime_error{"not as it should be: " + std::string{line}};
    }

    int socket_;
    std::string in_;
    std::string out_;
    std::deque<Answer> awaited_;  ///< In the order of the commands.
};

using Connections = std::vector<std::unique_ptr<Connection>>;

/// Does one part with `count` jobs.
void work_off(Connections& connections, std::uint32_t in_flight, std::uint64_t count, Part part) {
    Work work{count, part};
    for (std::uint32_t n = 0; n < in_flight && work.has_next(); ++n) {
        connections[n % connections.size()]->begin(work);
    }
    std::vector<pollfd> ready(connections.size());
    while (!work.done()) {
        for (std::size_t n = 0; n < connections.size(); ++n) {
            auto& connection = *connections[n];
            connection.flush();
            const bool more = connection.has_more_to_send();
            ready[n] = {connection.socket_number(),
                        static_cast<short>(more ? POLLIN | POLLOUT : POLLIN), 0};
        }
        check(poll(ready.data(), ready.size(), -1) > 0);
        for (std::size_t n = 0; n < connections.size(); ++n) {
            if ((ready[n].revents & ~POLLOUT) != 0) connections[n]->receive(work);
        }
    }
}

void run(const Settings& settings) {
    Connections connections;
    for (std::uint32_t n = 0; n < settings.connections; ++n) {
        connections.push_back(std::make_unique<Connection>(settings.port));
    }
    const auto work = [&](std::uint64_t count, Part part) {
        work_off(connections, settings.in_flight, count, part);
    };
    if (settings.stay) {
        return bench::measure(settings.count, [&] { work(settings.count, Part::put); });
    }
    work(settings.warm_up, Part::all);
    if (settings.put_first) work(settings.count, Part::put);
    const auto part = settings.put_first ? Part::take : Part::all;
    bench::measure(settings.count, [&] { work(settings.count, part); });
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Takes jobs through a beanstalkd server", "beanstalk_cycle"};
    options.add("--port", settings.port, "Of the server").required();
    options.add("--count", settings.count, "How many are measured");
    options.add("--warm-up", settings.warm_up, "How many go before");
    options.add("--in-flight", settings.in_flight, "At once");
    options.add("--connections", settings.connections).positive();
    options.add_flag("--put-first", settings.put_first, "Measures reserve and delete alone");
    options.add_flag("--stay", settings.stay, "Puts them, and leaves them there");
    return options.run(argc, argv, [&settings] { run(settings); });
}
