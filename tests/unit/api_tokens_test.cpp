#include "routemaster/api_tokens.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/faulty_store.hpp"

using namespace routemaster;

namespace {

struct Office {
    MemoryStore memory;
    testing::FaultyStore store{memory};
    ApiTokens tokens{store};
};

using Name = std::optional<std::string>;

}  // namespace

TEST_CASE("a token is valid, with its name, until its removal") {
    Office office;
    CHECK(office.tokens.find("shop--key").value() == Name{});
    CHECK(office.tokens.put({"shop--key", "shop"}));
    CHECK(office.tokens.find("shop--key").value() == Name{"shop"});
    CHECK(office.tokens.put({"shop--key", "store"}));
    CHECK(office.tokens.find("shop--key").value() == Name{"store"});
    CHECK(office.tokens.remove("shop--key").value() == Removal::removed);
    CHECK(office.tokens.find("shop--key").value() == Name{});
    CHECK(office.tokens.remove("shop--key").value() == Removal::unknown);
}

TEST_CASE("an invalid token or name is refused, and the error names the field") {
    Office office;
    CHECK(office.tokens.put({"Shop", "shop"}).error().context().starts_with("token: "));
    CHECK(office.tokens.put({"shop", ""}).error().context().starts_with("name: "));
    CHECK(office.tokens.put({"shop", ""}).error().code() == Errc::invalid);
    CHECK(office.tokens.list().value().empty());
}

TEST_CASE("removing a token removes its subscriber") {
    Office office;
    Bus bus{office.store};
    bus.subscriber("billing").subscribe({"orders"}, {.callback = "https://b.example"}).value();
    CHECK(office.tokens.remove("billing").value() == Removal::removed);
    CHECK(!bus.subscriber("billing").status().value());
}

TEST_CASE("tokens are listed page by page") {
    Office office;
    for (const char* token : {"c", "a", "b"}) office.tokens.put({token, "x"}).value();
    CHECK(office.tokens.list({.limit = 2}).value() ==
          std::vector<ApiToken>{{"a", "x"}, {"b", "x"}});
    CHECK(office.tokens.list({.after = "b"}).value() == std::vector<ApiToken>{{"c", "x"}});
}

TEST_CASE("a call about tokens is repeated when its reply is lost") {
    Office office;
    using testing::Fault;
    const auto lose = [&] { office.store.script({Fault::lost_reply, Fault::lost_reply}); };
    lose();
    CHECK(office.tokens.put({"shop--key", "shop"}));
    lose();
    CHECK(office.tokens.find("shop--key").value() == Name{"shop"});
    lose();
    CHECK(office.tokens.list().value().size() == 1);
    lose();
    CHECK(office.tokens.remove("shop--key").value() == Removal::unknown);
    office.store.script({Fault::lost_reply, Fault::lost_reply, Fault::lost_reply});
    CHECK(office.tokens.find("shop--key").error().code() == Errc::timed_out);
}

TEST_CASE("every call about tokens also exists with a completion") {
    Office office;
    int replied = 0;
    office.tokens.put({"shop--key", "shop"},
                      [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    office.tokens.put({"", ""}, [&](const Result<void>& reply) { replied += reply ? 0 : 1; });
    office.tokens.find("shop--key",
                       [&](Result<Name> reply) { replied += reply.value() == "shop" ? 1 : 0; });
    office.tokens.list({}, [&](Result<std::vector<ApiToken>> reply) {
        replied += reply.value().size() == 1 ? 1 : 0;
    });
    office.tokens.remove("shop--key", [&](Result<Removal> reply) {
        replied += reply.value() == Removal::removed ? 1 : 0;
    });
    CHECK(replied == 5);
}
