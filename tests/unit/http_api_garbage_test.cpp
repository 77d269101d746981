#include <array>
#include <set>

#include "routemaster/random.hpp"
#include "support/http_api_scenario.hpp"
#include "support/seed.hpp"

using namespace http_api_test;

namespace {

constexpr int requests = 20'000;
constexpr int requests_per_bus = 100;

const std::array<const char*, 6> methods{"GET", "POST", "DELETE", "HEAD", "PUT", ""};

const std::array<const char*, 20> paths{"/v1/queues/images/jobs",
                                        "/v1/queues/images",
                                        "/v1/queues/images/jobs/1/kick",
                                        "/v1/queues/images/kick",
                                        "/v1/queues/images/jobs/2",
                                        "/topics/orders",
                                        "/topics",
                                        "/subscription",
                                        "/subscribers",
                                        "/subscriber",
                                        "/api_tokens",
                                        "/api_tokens/a",
                                        "/pulse",
                                        "/health",
                                        "/subscriber/topics/orders",
                                        "/topics/orders",
                                        "/topics/orders",
                                        "/subscription",
                                        "/api_tokens",
                                        "/pulse/scaling"};

const std::array<const char*, 10> bodies{
    R"({"name":"resize","arguments":[1,{"a":[null]}],"delay":5,"unique":{"key":"k"}})",
    R"([{"name":"a","run_at":7,"metadata":{"b":"c"}},{"name":"b","unique":false}])",
    R"({"type":"update","url":"https://shop.example/1","timestamp":1795222853691,"data":{"a":1}})",
    R"({"topics":["orders","x"],"callback":"https://u:p@b.example:80/in","uuid":"u","max":7})",
    R"({"topics":[],"callback":"https://[::2]:8/","timeout":20,"max_in_flight":1})",
    R"({"name":"audit","token":"audit--1"})",
    R"({"name":"audit"})",
    R"([[[[[[{"a":1e308}]]]]]])",
    "{}",
    ""};

// Texts that are hard for parsers.
const std::array<const char*, 24> pieces{
    "null",    "true", "-1",  "1e999",    "18446744073709551616",
    "\\ud800", "\"",   "\\",  "{",        "}",
    "[",       "]",    ",",   ":",        "https://",
    "@",       "%",    "[::", "0x7f.1",   "\xff",
    "\xc3(",   "--",   "/",   "timestamp"};

class Garbage {
public:
    explicit Garbage(std::uint64_t seed) : random_{seed} {}

    rm::HttpRequest next() {
        auto made = request(std::string{pick(methods)}, mutated(pick(paths), 8), user(),
                            mutated(pick(bodies), 3));
        if (random_.below(20) == 0) made.authorization = mutated(made.authorization, 1);
        return made;
    }

private:
    template <class Array>
    const char* pick(const Array& array) {
        return array[random_.below(array.size())];
    }

    std::string user() {
        const std::array<const char*, 6> users{shop, billing, root, shop, "", "stranger"};
        return pick(users);
    }

    /// Makes one to four random changes to a text. With a `rarity` of up to 4, one text in `rarity`
    /// stays unchanged; above 4, only one text in `rarity` is changed.
    std::string mutated(std::string text, std::uint64_t rarity) {
        if (random_.below(rarity) != 0 && rarity > 4) return text;
        if (random_.below(rarity) == 0 && rarity <= 4) return text;
        for (auto changes = random_.below(4) + 1; changes > 0; --changes) {
            const auto place = random_.below(text.size() + 1);
            switch (random_.below(4)) {
                case 0: text.insert(place, pick(pieces)); break;
                case 1: text.erase(place, random_.below(8)); break;
                case 2: text.insert(place, 1, static_cast<char>(random_.below(256))); break;
                default:
                    if (place < text.size()) text[place] = static_cast<char>(random_.below(256));
            }
        }
        return text;
    }

    rm::Random random_;
};

}  // namespace

TEST_CASE("http api: an unparsable request gets a precise error, and a refusal changes nothing") {
    const auto seed = rm::test::seed(20'261'121);
    ROUTEMASTER_TELL_SEED(seed);
    Garbage garbage{seed};
    std::set<int> seen;
    std::optional<Scenario> bus;
    for (int i = 0; i < requests; ++i) {
        if (i % requests_per_bus == 0) bus.emplace();
        const auto asking = garbage.next();
        const auto before = holdings(bus->store);
        const auto answer = bus->ask(asking);
        seen.insert(answer.status);
        const bool accepted = answer.status < 300;
        const bool explained = answer.status == 404 || !answer.body.empty();
        const bool unchanged = holdings(bus->store) == before;
        if ((accepted || (explained && unchanged)) && answer.status < 500) continue;
        FAIL_CHECK(asking.method << " " << asking.path << " " << asking.body << " -> "
                                 << answer.status << " " << answer.body);
    }
    // Each kind of status must occur: garbage that fails in only one way would prove little.
    CHECK(seen == std::set<int>{200, 201, 204, 400, 401, 403, 404});
}
