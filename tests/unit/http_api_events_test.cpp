#include "routemaster/codec/delivery_body.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string good_event = R"({"type":"update","url":"https://shop.example/1"})";

/// Records the published messages.
class Witness final : public rm::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        for (const auto& step : steps) {
            if (const auto* event = std::get_if<rm::PublishEvent>(&step))
                published.push_back(*event);
        }
        next().submit(steps, now, std::move(done));
    }

    std::vector<rm::PublishEvent> published;
};

/// A bus whose publications are recorded.
struct Witnessed {
    Witnessed() { done(store, rm::PutToken{shop, "shop"}); }

    rm::HttpResponse publish(std::string body) {
        return ask_at_once(api, request("POST", "/topics/orders", shop, std::move(body)));
    }

    /// The event published by `body`.
    rm::Event event(std::string body) {
        INFO(body);
        const auto answer = publish(std::move(body));
        REQUIRE(answer.status == 200);
        return rm::decode_message(witness.published.back().message).value();
    }

    rm::MemoryStore store;
    Witness witness{store};
    rm::testing::ManualClock clock{noon};
    rm::HttpApi api{witness, Scenario::with_clock(default_options(), clock)};
};

std::string with(const std::string& fields) {
    return R"({"type":"update","url":"https://shop.example/1",)" + fields + "}";
}

}  // namespace

TEST_CASE("http api: publishing returns 200 without a body, and claims the topic") {
    Scenario bus;
    const auto answer = bus.post("/topics/orders", shop, good_event);
    CHECK(answer.status == 200);
    CHECK(answer.body.empty());
    CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
    CHECK(holdings(bus.store).topics == std::vector<rm::Topic>{{"orders", shop, 1}});
}

TEST_CASE("http api: an event reaches the batch of each subscriber") {
    Scenario bus;
    done(bus.store, rm::Subscribe{billing, {"orders"}, {.callback = "https://b.example"}});
    CHECK(bus.post("/topics/orders", shop, good_event).status == 200);
    CHECK(bus.post("/topics/orders", shop, good_event).status == 200);
    const auto batches = holdings(bus.store).batches;
    REQUIRE(batches.size() == 1);
    CHECK(batches.front().subscriber == billing);
    CHECK(batches.front().events == 2);
}

TEST_CASE("http api: an event is published as sent") {
    Witnessed bus;
    const auto event =
        bus.event(R"({"type":"delete","url":"HTTPS://shop.example/1#a","timestamp":1795222853691,)"
                  R"("data":{"id":7,"a":[true,null,"x"]}})");
    CHECK(event.topic == "orders");
    CHECK(event.type == rm::EventType::remove);
    CHECK(event.url == "HTTPS://shop.example/1#a");
    CHECK(event.timestamp == rm::from_milliseconds(1795222853691));
    CHECK(event.data == rm::parse_json(R"({"id":7,"a":[true,null,"x"]})").value());
    CHECK(bus.witness.published.back().publisher == shop);
    CHECK(bus.witness.published.back().timestamp == rm::from_milliseconds(1795222853691));
}

TEST_CASE("http api: an event has one of four types") {
    Witnessed bus;
    for (const char* type : {"create", "update", "delete", "noop"}) {
        const auto event =
            bus.event(R"({"type":")" + std::string{type} + R"(","url":"https://a.example"})");
        CHECK(rm::to_string(event.type) == type);
    }
}

TEST_CASE("http api: an event without a timestamp gets the current time") {
    Witnessed bus;
    for (const auto& body :
         {good_event, with(R"("timestamp":null)"), with(R"("timestamp":false)")}) {
        CHECK(bus.event(body).timestamp == noon);
        CHECK(bus.witness.published.back().timestamp == noon);
    }
}

TEST_CASE("http api: timestamps are 64-bit milliseconds, and fractions are rounded") {
    Witnessed bus;
    const auto time = [&](const std::string& text) {
        const auto event = bus.event(with(R"("timestamp":)" + text));
        CHECK(bus.witness.published.back().timestamp == event.timestamp);
        return rm::to_milliseconds(event.timestamp.value());
    };
    CHECK(time("0") == 0);
    CHECK(time("-5") == -5);
    CHECK(time("9223372036854775807") == INT64_MAX);
    CHECK(time("-9223372036854775808") == INT64_MIN);
    CHECK(time("1795222853691.0") == 1795222853691);
    CHECK(time("1795222853691.4") == 1795222853691);
    CHECK(time("1795222853691.5") == 1795222853692);
    CHECK(time("1.795222853691e12") == 1795222853691);
}

TEST_CASE("http api: data may be null, empty, and 64 KiB of MessagePack") {
    Witnessed bus;
    CHECK(!bus.event(with(R"("data":null)")).data);
    CHECK(bus.event(with(R"("data":{})")).data == rm::Value{rm::Value::Map{}});
    // One byte for the map, two for the key, and three for the length of the text.
    const auto text_max = 65'536U - 6U;
    CHECK(bus.event(with(R"("data":{"a":")" + std::string(text_max, 'x') + R"("})")).data);
    const auto refusal =
        bus.publish(with(R"("data":{"a":")" + std::string(text_max + 1, 'x') + R"("})"));
    CHECK(refusal.status == 400);
    CHECK(refusal.body == "bad event: data: takes 65537 bytes of MessagePack, more than 65536");
}

TEST_CASE("http api: unknown keys of an event are ignored, and the last duplicate key counts") {
    Witnessed bus;
    CHECK(bus.event(with(R"("topic":"other","x":[1],"url":"https://b.example")")).url ==
          "https://b.example");
    CHECK(bus.witness.published.back().topic == "orders");
}

TEST_CASE("http api: of duplicate keys in data only the last is delivered") {
    Witnessed bus;
    bus.event(with(R"("data":{"id":1,"a":{"x":1,"x":2},"id":[3]})"));
    rm::MessageList messages;
    messages.append(bus.witness.published.back().message);
    const auto body = rm::delivery_body(messages).json;
    CHECK(body.find(R"("data":{"id":[3],"a":{"x":2}}})") != std::string::npos);
}

TEST_CASE("http api: an invalid event is refused with the name of the field, and changes nothing") {
    Scenario bus;
    const auto bad = [&](const std::string& body, const std::string& text) {
        refused(bus, request("POST", "/topics/fresh", shop, body), 400, text);
    };
    bad("{}", "bad event: type: is missing");
    bad(R"({"type":null,"url":"https://a.example"})", "bad event: type: is missing");
    bad(R"({"type":"remove","url":"https://a.example"})",
        "bad event: type: must be create, update, delete or noop");
    bad(R"({"type":["create"],"url":"https://a.example"})",
        "bad event: type: must be create, update, delete or noop");

    const auto bad_url = [&](const std::string& url, const std::string& text) {
        bad(R"({"type":"noop","url":)" + url + "}", "bad event: url: " + text);
    };
    bad(R"({"type":"noop"})", "bad event: url: URL is missing");
    bad_url("null", "URL is missing");
    bad_url(R"("")", "URL is missing");
    bad_url("17", "requires a string");
    bad_url(R"("http://a.example")", "URL is not HTTPS");
    bad_url(R"("a.example")", "URL is not HTTPS");
    bad_url(R"("https:a.example")", "URL has no host");
    bad_url(R"("https://")", "URL has no host");
    bad_url(R"("https://a.example/?")", "URL has query string");
    bad_url(R"("https://a.example/?b=c")", "URL has query string");
    bad_url(R"("https://a.example/b c")", "URL is malformed at byte 20 (RFC 3986)");
    bad_url(R"("https://a.example/\u00e9")", "URL is malformed at byte 19 (RFC 3986)");
    bad_url(R"("https://a.example/\n")", "URL is malformed at byte 19 (RFC 3986)");
    bad_url(R"("https://a.example/%")", "URL is malformed at byte 20 (RFC 3986)");
    bad_url(R"("https://a.example/[x]")", "URL is malformed at byte 19 (RFC 3986)");
    bad_url(R"("https://a.example:b/")", "URL is malformed at byte 20 (RFC 3986)");
    bad_url('"' + std::string(8193, 'a') + '"', "URL takes more than 8192 bytes");

    const std::string time = "bad event: timestamp: must be a number of milliseconds, of 64 bits";
    bad(with(R"("timestamp":"1795222853691")"), time);
    bad(with(R"("timestamp":true)"), time);
    bad(with(R"("timestamp":[])"), time);
    bad(with(R"("timestamp":9223372036854775808)"), time);
    bad(with(R"("timestamp":9223372036854775808.0)"), time);
    bad(with(R"("timestamp":1e19)"), time);
    bad(with(R"("timestamp":-1e300)"), time);

    for (const char* data : {"false", "0", R"("x")", "[]", "[1]"}) {
        bad(with(R"("data":)" + std::string{data}), "bad event: data: must be an object");
    }
}

TEST_CASE("http api: a refused topic name creates no topic") {
    Scenario bus;
    for (const auto& name :
         std::vector<std::string>{"Orders", "-orders", "..", "or ders", "abc\nX", "abc\n",
                                  "\xc3\xa9", ".", std::string{"a\0b", 3}, std::string(65, 'a')}) {
        refused(bus, request("POST", "/topics/" + name, shop, good_event), 400,
                "bad topic: topic: must be 1 to 64 of a-z, 0-9, _, - and ., the first no - or .");
    }
    CHECK(bus.post("/topics/orders-2.eu", shop, good_event).status == 200);
    CHECK(bus.post("/topics/" + std::string(64, 'a'), shop, good_event).status == 200);
    CHECK(bus.post("/topics/_", shop, good_event).status == 200);
}

TEST_CASE("http api: topic names can be restricted to the rule of Ruby Routemaster") {
    auto options = default_options();
    options.event_rules.topics = rm::TopicRule::ruby;
    Scenario bus{options};
    for (const char* name : {"orders2", "or-ders", "or.ders"}) {
        refused(bus, request("POST", std::string{"/topics/"} + name, shop, good_event), 400,
                "bad topic: topic: must be 1 to 64 of a-z and _");
        refused(bus,
                request("POST", "/subscription", billing,
                        R"({"topics":[")" + std::string{name} +
                            R"("],"callback":"https://b.example"})"),
                400, "bad topic: topics[0]: must be a string of 1 to 64 of a-z and _");
    }
}

TEST_CASE("http api: with a setting, events may have any URL, or data without a URL") {
    auto options = default_options();
    options.event_rules.urls = rm::UrlRule::any;
    Scenario bus{options};
    for (const char* event : {R"({"type":"update","url":"http://shop.example/?id=1"})",
                              R"({"type":"update","url":"urn:order:42"})",
                              R"({"type":"update","url":"","data":{"id":42}})",
                              R"({"type":"update","url":null,"data":{"id":42}})",
                              R"({"type":"update","data":{"id":42}})"}) {
        INFO(event);
        CHECK(bus.post("/topics/orders", shop, event).status == 200);
    }
    const auto bad = [&](const std::string& event, const std::string& text) {
        refused(bus, request("POST", "/topics/orders", shop, event), 400, "bad event: " + text);
    };
    bad(R"({"type":"update"})", "url: URL is missing");
    bad(R"({"type":"update","url":"shop.example","data":{"id":42}})", "url: URL has no scheme");
    bad(R"({"type":"update","url":7,"data":{"id":42}})", "url: requires a string");
    bad(R"({"type":"update","url":"urn:%","data":{}})",
        "url: URL is malformed at byte 6 (RFC 3986)");

    options.event_rules.urls = rm::UrlRule::http;
    CHECK_THROWS_AS(Scenario{options}, rm::Failure);
}

TEST_CASE("http api: a topic has only one publisher") {
    Scenario bus;
    CHECK(bus.post("/topics/orders", shop, good_event).status == 200);
    refused(bus, request("POST", "/topics/orders", billing, good_event), 403, "topic claimed");
    CHECK(bus.post("/topics/orders", shop, good_event).status == 200);
}

TEST_CASE("http api: a body that is not a JSON object is refused where an object is needed") {
    Scenario bus;
    for (const auto& route :
         {request("POST", "/topics/orders", shop), request("POST", "/subscription", shop),
          request("POST", "/api_tokens", root)}) {
        auto asking = route;
        for (const char* body : {"[]", "null", "1", R"("x")", "true"}) {
            asking.body = body;
            refused(bus, asking, 400, "JSON: must be an object");
        }
        for (const char* body : {"", " ", "{", "{}x", "{'a':1}", "{\"a\":1,}", "{\"a\":NaN}",
                                 "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e400}",
                                 "{\"a\":184467440737095516160}", "\xef\xbb\xbf{}", "{}/* */"}) {
            asking.body = body;
            const auto before = holdings(bus.store);
            const auto answer = bus.ask(asking);
            INFO(asking.path << " " << body);
            CHECK(answer.status == 400);
            CHECK(answer.body.starts_with("JSON: "));
            CHECK(holdings(bus.store) == before);
        }
    }
}

TEST_CASE("http api: the content type of a request does not matter") {
    Scenario bus;
    for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded"}) {
        auto publication = request("POST", "/topics/orders", shop, good_event);
        publication.content_type = type;
        CHECK(bus.ask(publication).status == 200);
    }
}
