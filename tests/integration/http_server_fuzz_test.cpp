#include <doctest/doctest.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/random.hpp"
#include "routemaster/server/http_server.hpp"
#include "support/await.hpp"
#include "support/http_client.hpp"
#include "support/http_server_scene.hpp"
#include "support/process_usage.hpp"
#include "support/seed.hpp"

namespace rm = routemaster;
using namespace routemaster::test;

namespace {

const std::vector<std::string> valid{
    "GET /topics?a=b HTTP/1.1\r\nHost: t\r\nAuthorization: Basic eDp5\r\n\r\n",
    "POST /topics/a HTTP/1.1\r\nHost: t:80\r\nContent-Length: 11\r\n\r\nhello world",
    "POST /topics/a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
    "HEAD /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "DELETE /a%20b HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: a/b\r\n\r\n",
};

class Mutations {
public:
    explicit Mutations(std::uint64_t seed) : random_{seed} {}

    /// A few requests, most of them broken in some place.
    std::string stream() {
        std::string bytes;
        for (auto left = 1 + below(3); left > 0; --left) bytes += mutated();
        return bytes;
    }

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_.below(end)); }

private:
    std::string mutated() {
        auto bytes = valid[below(valid.size())];
        for (auto left = below(4); left > 0; --left) mutate(bytes);
        return bytes;
    }

    void mutate(std::string& bytes) {
        constexpr std::array tokens{"\r\n", "\n",       "\r",       ":",        " ",
                                    "\t",   "chunked",  "0",        "ffffffff", ";",
                                    "%",    "\r\n\r\n", "HTTP/1.1", "Host",     "99999999999"};
        if (bytes.empty()) return;
        const auto at = below(bytes.size());
        switch (below(6)) {
            case 0: bytes[at] = static_cast<char>(below(256)); break;
            case 1: bytes.erase(at, 1 + below(8)); break;
            case 2: bytes.insert(at, tokens[below(tokens.size())]); break;
            case 3: bytes.insert(at, bytes.substr(below(bytes.size()), below(40))); break;
            case 4: bytes.insert(at, std::string(below(200), bytes[at])); break;
            default: bytes.resize(at); break;
        }
    }

    rm::Random random_;
};

}  // namespace

TEST_CASE("whatever bytes a client sends, the server responds or closes, and leaks no connection") {
    const auto number = seed(11);
    ROUTEMASTER_TELL_SEED(number);
    Mutations mutations{number};
    rm::HttpServer server{{.threads = 2, .body_max = 1'000},
                          [](rm::HttpRequest request, const rm::HttpResponder& respond) {
                              CHECK(request.body.size() <= 1'000);
                              echo(std::move(request), respond);
                          },
                          [](const rm::HttpRequest& head, const rm::HttpResponder& respond) {
                              respond({head.path.size() % 2 == 0 ? 100 : 401, "", "", {}});
                          }};
    const auto exchange = [&] {
        const auto bytes = mutations.stream();
        CAPTURE(bytes);
        HttpClient client{server.port()};
        const auto cut = mutations.below(bytes.size() + 1);
        if (client.try_send(bytes.substr(0, cut)) && client.try_send(bytes.substr(cut))) {
            client.end();
        }
        // Throws if the server leaves the connection open.
        const auto answers = client.receive_all();
        CHECK((answers.empty() || answers.starts_with("HTTP/1.1 ")));
    };
    for (int i = 0; i < 500; ++i) exchange();
    const auto files = open_files(::getpid());
    const auto memory = resident_bytes(::getpid());
    const auto processor = processor_time(::getpid());
    for (int i = 0; i < 4'000; ++i) exchange();
    CHECK(await([&] { return open_files(::getpid()) <= files; }));
    if (memory_tells) CHECK(resident_bytes(::getpid()) < memory + (16U << 20U));
    CHECK((processor_time(::getpid()) - processor).count() < 20);
    CHECK(HttpClient{server.port()}.ask("GET", "/fine").body == "GET /fine ");
}
