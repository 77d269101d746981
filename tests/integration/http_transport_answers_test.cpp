#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "routemaster/transport/http.hpp"
#include "support/deliveries.hpp"
#include "support/endless_receiver.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::EndlessReceiver;

namespace {

/// The resident memory of this process, in bytes.
std::size_t resident_bytes() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t all = 0;
    std::size_t resident = 0;
    statm >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

const std::string head = "HTTP/1.1 200 OK\r\n";
const std::string chunked_head = head + "Transfer-Encoding: chunked\r\n\r\n";

struct Endless {
    std::string what;
    std::string beginning;
    std::string part;
};

/// Endless responses: each part of a response without an end.
const std::vector<Endless> endless_answers{
    {"headers", head, "X-A: b\r\n"},
    {"large headers", head, "X-A: " + std::string(20'000, 'b') + "\r\n"},
    {"a header", head + "X-A: ", "b"},
    {"a folded header", head + "X-A: b\r\n", " b\r\n"},
    {"a status line", "HTTP/1.1 200 ", "O"},
    {"interim answers", "", "HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"},
    {"bare interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n"},
    {"a body", head + "\r\n", "b"},
    {"a body of chunks", chunked_head, "1\r\nb\r\n"},
    {"a chunk's extension", chunked_head + "1;", "b"},
    {"extensions of chunks", chunked_head, "1;" + std::string(4'000, 'b') + "\r\nb\r\n"},
    {"a chunk's size", chunked_head, "0"},
    {"trailers", chunked_head + "0\r\n", "X-A: b\r\n"},
    {"empty trailers", chunked_head + "0\r\n", ":\r\n"},
    {"a trailer", chunked_head + "0\r\nX-A: ", "b"},
    {"bytes that are not an answer", "", "b"},
};

}  // namespace

TEST_CASE("an endless response is cut off early, whether its head, body or framing is endless") {
    HttpTransport transport{{.allow_http = true, .allow_loopback = true}};
    std::size_t most = 0;
    for (const auto& [what, beginning, part] : endless_answers) {
        CAPTURE(what);
        const EndlessReceiver receiver{beginning, part};
        const auto before = resident_bytes();
        const auto begun = std::chrono::steady_clock::now();
        const auto report = deliver(transport, delivery(receiver.url()));
        REQUIRE_FALSE(report.outcome);
        CAPTURE(report.outcome.error().message());
        CHECK(report.outcome.error().code() == Errc::unavailable);
        CHECK(report.outcome.error().context() != "Out of memory");
        CHECK(std::chrono::steady_clock::now() - begun < 15s);
        // Besides the bytes that were read, some are in buffers of the kernel.
        CHECK(receiver.sent() < 20U << 20U);
        const auto grown = std::max(resident_bytes(), before) - before;
        CHECK(grown < 8U << 20U);
        most = std::max(most, grown);
    }
    MESSAGE("grown by at most " << most << " bytes");
}

TEST_CASE("a slow response fails in time, whether its head, body or framing is slow") {
    HttpTransport transport{{.total_timeout = 400ms, .allow_http = true, .allow_loopback = true}};
    for (const auto& [what, beginning, part] : endless_answers) {
        CAPTURE(what);
        const EndlessReceiver receiver{beginning, part.substr(0, 100), 10ms};
        const auto begun = std::chrono::steady_clock::now();
        const auto report = deliver(transport, delivery(receiver.url()));
        REQUIRE_FALSE(report.outcome);
        CHECK(std::chrono::steady_clock::now() - begun < 2s);
    }
}

TEST_CASE("headers count towards the size limit of a response, and have a separate limit") {
    std::string answer;
    test::ScriptedReceiver receiver{
        [&](const test::ReceivedRequest&) { return test::ScriptedReply{.bytes = answer}; }};
    HttpTransport transport{{.allow_http = true, .allow_loopback = true, .response_max = 10'000}};
    const auto error_of = [&](const std::string& headers, std::size_t body) -> std::string {
        answer = head + "Content-Length: " + std::to_string(body) + "\r\n" + headers + "\r\n" +
                 std::string(body, 'b');
        const auto report = deliver(transport, delivery(receiver.url()));
        return report.outcome ? "none" : report.outcome.error().context();
    };
    const std::string large = "X-A: " + std::string(5'000, 'b') + "\r\n";
    CHECK(error_of("", 9'900) == "none");
    CHECK(error_of(large, 4'900) == "none");
    CHECK(error_of(large, 5'000) == "the answer has more than 10000 bytes");
    CHECK(error_of(large + large, 0) == "the answer has more than 10000 bytes");
}
