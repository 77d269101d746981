#include <string>
#include <utility>

#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string report_path = "/v1/recurring/report";
const std::string report_body =
    R"({"schedule":"30 2 * * MON-FRI","time_zone":"Europe/Berlin","queue":"images",)"
    R"("job":{"name":"report","arguments":["sales"],"attempts_max":3,"priority":7,)"
    R"("timeout":700,"expires":60000,"metadata":{"tenant":"shop"}},"catch_up":"skip"})";

rm::HttpResponse put(Scenario& bus, const std::string& path, const std::string& body) {
    return bus.ask(request("PUT", path, root, body));
}

void put_refused(Scenario& bus, const std::string& body, const std::string& problem) {
    INFO(body);
    const auto answer = put(bus, report_path, body);
    CHECK(answer.status == 400);
    CHECK(answer.body.starts_with(problem));
    CHECK(done(bus.store, rm::ListRecurringJobs{}).empty());
}

}  // namespace

TEST_CASE("http api: a recurring job is put, shown, listed and removed") {
    Scenario bus;
    CHECK(put(bus, report_path, report_body).status == 204);
    // `noon` is a Saturday, so the next tick is on Monday.
    const std::string shown =
        R"({"name":"report","schedule":"30 2 * * MON-FRI","time_zone":"Europe/Berlin",)"
        R"("queue":"images","job":{"name":"report","arguments":["sales"],"attempts_max":3,)"
        R"("priority":7,"timeout":700,"expires":60000,"metadata":{"tenant":"shop"}},)"
        R"("catch_up":"skip","overlap":false,"paused":false,"next_at":1795397400000,)"
        R"("last_at":null,"runs":0,"kept":0})";
    const auto answer = bus.get(report_path, root);
    CHECK(answer.status == 200);
    CHECK(answer.body == shown);
    CHECK(put(bus, "/v1/recurring/ping",
              R"({"schedule":"@every 10s","queue":"pings","job":{"name":"ping"},)"
              R"("catch_up":"all","overlap":true})")
              .status == 204);
    const std::string ping =
        R"({"name":"ping","schedule":"@every 10s","time_zone":"UTC","queue":"pings",)"
        R"("job":{"name":"ping","arguments":[],"attempts_max":25,"priority":0,"timeout":0,)"
        R"("expires":0,"metadata":{}},"catch_up":"all","overlap":true,"paused":false,)"
        R"("next_at":1795222910000,"last_at":null,"runs":0,"kept":0})";
    CHECK(bus.get("/v1/recurring/ping", root).body == ping);
    for (const auto& [name, one] : {std::pair{"ping", ping}, std::pair{"report", shown}}) {
        CHECK(bus.get("/v1/recurring/" + std::string{name} + "/explanation", root)
                  .body.ends_with(R"(,"recurring":)" + one + "}"));
    }
    const auto page = bus.get("/v1/recurring?limit=1", root);
    CHECK(page.body.starts_with(R"([{"name":"ping","schedule":"@every 10s","time_zone":"UTC",)"));
    CHECK(header(page, "Link") == R"(</v1/recurring?after=ping&limit=1>; rel="next")");
    CHECK(bus.get("/v1/recurring?after=ping", root).body == "[" + shown + "]");
    CHECK(bus.remove(report_path, root).status == 204);
    CHECK(bus.remove(report_path, root).status == 404);
    CHECK(bus.get(report_path, root).status == 404);
    CHECK(bus.get(report_path, root).body == "recurring job not found");
}

TEST_CASE("http api: a recurring job is paused, resumed and run now") {
    Scenario bus;
    for (const char* action : {"/pause", "/resume", "/run"}) {
        CHECK(bus.post(report_path + action, root, "").status == 404);
    }
    put(bus, report_path, report_body);
    CHECK(bus.post(report_path + "/pause", root, "").status == 204);
    CHECK(bus.get(report_path, root).body.find(R"("paused":true,"next_at":null)") !=
          std::string::npos);
    CHECK(bus.post(report_path + "/run", root, "").body == R"({"id":1,"outcome":"pushed"})");
    CHECK(bus.post(report_path + "/run", root, "").body == R"({"id":1,"outcome":"duplicate"})");
    CHECK(bus.get("/v1/recurring", root).body.find(R"("paused":true,"next_at":null)") !=
          std::string::npos);
    const auto job = done(bus.store, rm::FindJob{"images", 1}).value();
    CHECK(job.options.attempts_max == 3);
    CHECK(job.options.priority == 7);
    CHECK(job.options.expires_at == noon + rm::Duration{60'000});
    CHECK(job.options.metadata.at("recurring") == "report");
    CHECK(bus.post(report_path + "/resume", root, "").status == 204);
    CHECK_FALSE(done(bus.store, rm::FindRecurringJob{"report"})->paused);
}

TEST_CASE("http api: an invalid recurring job is refused, and the error names the field") {
    Scenario bus;
    const auto with = [](const std::string& fields) {
        return R"({"queue":"images","job":{"name":"a"},)" + fields + "}";
    };
    put_refused(bus, "", "JSON");
    put_refused(bus, "[]", "JSON: must be an object");
    put_refused(bus, "{}", "job: is missing");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":null})", "job: is missing");
    put_refused(bus, R"({"schedule":"@daily","timer":null})", "timer: is null");
    put_refused(bus, R"({"schedule":"@daily","action":null})", "action: is null");
    put_refused(bus, with(R"("cron":"@daily")"), R"(unknown field "cron")");
    put_refused(bus, with(R"("schedule":"61 * * * *")"), "schedule: minute: '61' is not from");
    put_refused(bus, with(R"("schedule":7)"), "schedule: requires a string");
    put_refused(bus, with(R"("schedule":"@daily)" + std::string(1'025, ' ') + R"(")"),
                "schedule: must have at most 1024 bytes");
    put_refused(bus, with(R"("schedule":"@daily","time_zone":")" + std::string(65, 'a') + R"(")"),
                "time_zone: must have at most 64 bytes");
    put_refused(bus, with(R"("schedule":"@daily","time_zone":"U\u0000")"),
                "time_zone: this machine has no zone 'U?';");
    put_refused(bus, with(R"("overlap":false)"), "schedule: ");
    put_refused(bus, with(R"("schedule":"@daily","time_zone":"Berlin")"), "time_zone: ");
    put_refused(bus, with(R"("schedule":"@daily","catch_up":"never")"),
                "catch_up: must be skip, once or all");
    put_refused(bus, with(R"("schedule":"@daily","catch_up":"")"),
                "catch_up: must be skip, once or all");
    put_refused(bus, with(R"("schedule":"@daily","catch_up":"all")"), "catch_up: all requires");
    put_refused(bus, with(R"("schedule":"@daily","overlap":"yes")"),
                "overlap: must be true or false");
    put_refused(bus, R"({"schedule":"@daily","job":{"name":"a"}})", "queue: ");
    put_refused(bus, R"({"schedule":"@daily","queue":"main","job":{"name":"a"}})", "queue: ");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{}})", "job: name: is missing");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":7})", "job: must be an object");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":""}})",
                "job: name: must not be empty");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":"a","often":1}})",
                R"(job: unknown field "often")");
    std::string entries = R"("0":"")";
    for (int i = 1; i < 31; ++i) entries += ",\"" + std::to_string(i) + R"(":"")";
    put_refused(
        bus,
        R"({"schedule":"@daily","queue":"images","job":{"name":"a","metadata":{)" + entries + "}}}",
        "job: metadata: must have at most 30 entries beside the entries that routemaster adds");
    put_refused(
        bus,
        R"({"schedule":"@daily","queue":"images","job":{"name":"a","metadata":{"a":")" +
            std::string(4'096, 'a') + R"("}}})",
        "job: metadata: must have at most 4096 bytes including the entries that routemaster adds");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":"a","delay":1}})",
                "job: delay: is not allowed in a recurring job");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":"a","group":"g"}})",
                "job: group: is not allowed in a recurring job");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":"a","priority":101}})",
                "job: priority: ");
    put_refused(bus, R"({"schedule":"@daily","queue":"images","job":{"name":"a\u0000"}})",
                "job: name: ");
    const auto answer = put(bus, "/v1/recurring/a%20b", report_body);
    CHECK(answer.status == 400);
    CHECK(answer.body.starts_with("name: must be 1 to 64 of"));
}

TEST_CASE("http api: a recurring timer is put, shown and run now") {
    Scenario bus;
    const std::string body =
        R"({"schedule":"@every 1h","timer":{"namespace":"calls","payload":{"to":"Ada"},)"
        R"("retries_max":3,"confirm_within":5000}})";
    CHECK(put(bus, report_path, body).status == 204);
    CHECK(bus.get(report_path, root).body ==
          R"({"name":"report","schedule":"@every 1h","time_zone":"UTC",)"
          R"("timer":{"namespace":"calls","payload":{"to":"Ada"},"retries_max":3,)"
          R"("confirm_within":5000},"catch_up":"once","overlap":false,"paused":false,)"
          R"("next_at":1795226400000,"last_at":null,"runs":0,"kept":0})");
    CHECK(bus.post(report_path + "/run", root, "").body == R"({"id":null,"outcome":"pushed"})");
    CHECK(bus.post(report_path + "/run", root, "").body == R"({"id":null,"outcome":"duplicate"})");
    const auto timer = done(bus.store, rm::FindTimer{"calls", "recurring:report"}).value();
    CHECK(timer.payload == rm::Value{rm::Value::Map{{"to", "Ada"}}});
    CHECK(timer.at == noon);
    CHECK(timer.retries_max == 3);
    CHECK(bus.remove(report_path, root).status == 204);
}

TEST_CASE("http api: an invalid recurring timer is refused, and the error names the field") {
    Scenario bus;
    const auto with = [](const std::string& timer, const std::string& fields = {}) {
        return R"({"schedule":"@daily","timer":)" + timer + fields + "}";
    };
    const std::string timer = R"({"namespace":"calls","payload":1})";
    put_refused(bus, with("[]"), "timer: must be an object");
    put_refused(bus, with("{}"), "timer: namespace: is missing");
    put_refused(bus, with(R"({"namespace":7,"payload":1})"), "timer: namespace: requires a string");
    put_refused(bus, with(R"({"namespace":"calls"})"), "timer: payload: is missing");
    put_refused(bus, with(R"({"namespace":"a b","payload":1})"), "timer: namespace: must be");
    put_refused(bus,
                with(R"({"namespace":"calls","payload":")" + std::string(65'536, 'a') + R"("})"),
                "timer: payload: must have at most 65536 bytes");
    put_refused(bus, with(R"({"namespace":"calls","payload":1,"often":1})"),
                R"(timer: unknown field "often")");
    put_refused(bus, with(R"({"namespace":"routemaster.actions","payload":{"push":{}}})"),
                "timer: namespace: is reserved for actions");
    for (const std::string field : {"delay", "at", "id"}) {
        put_refused(bus, with(R"({"namespace":"calls","payload":1,")" + field + R"(":1})"),
                    "timer: " + field + ": is not allowed in a recurring timer");
    }
    put_refused(bus, with(R"({"namespace":"calls","payload":1,"retries_max":-1})"),
                "timer: retries_max: ");
    put_refused(bus, with(timer, R"(,"queue":"images")"),
                "queue: is not allowed in a recurring timer");
    put_refused(bus, with(timer, R"(,"job":{"name":"a"})"),
                "job: is not allowed in a recurring timer");
    put_refused(bus, with(timer, R"(,"catch_up":"all")"), "catch_up: all requires");
}

TEST_CASE("http api: a recurring action is put, shown and run now") {
    Scenario bus;
    const std::string action = R"({"deliver":{"subscriber":"billing","topic":"timers",)"
                               R"("type":"noop","data":{"order":42}}})";
    CHECK(put(bus, report_path, R"({"schedule":"@hourly","overlap":true,"action":)" + action + "}")
              .status == 204);
    CHECK(bus.get(report_path, root).body ==
          R"({"name":"report","schedule":"@hourly","time_zone":"UTC","action":)" + action +
              R"(,"catch_up":"once","overlap":true,"paused":false,"next_at":1795226400000,)"
              R"("last_at":null,"runs":0,"kept":0})");
    CHECK(put(bus, report_path, R"({"schedule":"@hourly","action":)" + action + "}").status == 204);
    CHECK(bus.post(report_path + "/run", root, "").body == R"({"id":null,"outcome":"pushed"})");
    const auto timer =
        done(bus.store, rm::FindTimer{"routemaster.actions", "recurring:report"}).value();
    CHECK(timer.at == noon);
    CHECK(timer.retries_max == rm::timer_retries_max);
    // The publisher of a tick must be a valid client at the time of the tick, regardless of
    // `authenticate`.
    CHECK(put(bus, report_path,
              R"({"schedule":"@hourly","action":{"publish":{"topic":"orders","type":"noop",)"
              R"("url":"https://a.example/","publisher":"shop","authenticate":false}}})")
              .status == 204);
    CHECK(bus.get(report_path, root).body.find(R"("authenticate":true)") != std::string::npos);
}

TEST_CASE("http api: an invalid recurring action is refused, and the error has the reason") {
    Scenario bus;
    const auto with = [](const std::string& action, const std::string& fields = {}) {
        return R"({"schedule":"@daily","action":)" + action + fields + "}";
    };
    const std::string action = R"({"push":{"queue":"images","name":"a"}})";
    put_refused(bus, with("7"),
                "action: must be an object with exactly one of push, publish and deliver");
    put_refused(bus, with("{}"), "action: must be an object");
    put_refused(bus, with(R"({"push":{"name":"a"}})"), "push: queue: is missing");
    put_refused(bus, with(R"({"push":{"queue":"main","name":"a"}})"), "push: queue: ");
    put_refused(bus, with(R"({"deliver":{"subscriber":"billing","url":"http://a.example/"}})"),
                "deliver: url: ");
    put_refused(bus,
                with(R"({"push":{"queue":"images","name":"a","arguments":[")" +
                     std::string(65'536, 'a') + R"("]}})"),
                "action: must have at most 65536 bytes");
    put_refused(bus, with(action, R"(,"queue":"images")"),
                "queue: is not allowed in a recurring action");
    put_refused(bus, with(action, R"(,"timer":{"namespace":"calls","payload":1})"),
                "action: is not allowed in a recurring timer");
    put_refused(bus, with(action, R"(,"catch_up":"all")"), "catch_up: all requires");
}

TEST_CASE("http api: only root may manage recurring jobs") {
    Scenario bus;
    struct Route {
        const char* method;
        const char* path;
    };
    const Route routes[] = {
        {"GET", "/v1/recurring"},          {"GET", "/v1/recurring/a"},
        {"PUT", "/v1/recurring/a"},        {"DELETE", "/v1/recurring/a"},
        {"POST", "/v1/recurring/a/pause"}, {"POST", "/v1/recurring/a/resume"},
        {"POST", "/v1/recurring/a/run"},
    };
    for (const auto& route : routes) {
        CAPTURE(route.path);
        CHECK(bus.ask(request(route.method, route.path, shop)).status == 401);
        CHECK(bus.ask(request(route.method, route.path, {})).status == 401);
    }
}

TEST_CASE("http api: a recurring job gives the reason for its wait") {
    Scenario bus;
    CHECK(put(bus, report_path, report_body).status == 204);
    const auto body = bus.get(report_path + "/explanation", root).body;
    CHECK(body.starts_with(
        R"({"text":"its next tick is in 2 d; no scheduler runs; no worker serves queue 'images'",)"
        R"("schedulers":{"workers":0,)"));
    CHECK(body.find(R"(,"workers":{"workers":0,)") != std::string::npos);
    CHECK(body.find(R"(,"recurring":{"name":"report",)") != std::string::npos);
    CHECK(bus.get("/v1/recurring/none/explanation", root).status == 404);
    CHECK(bus.get(report_path + "/explanation", shop).status == 401);
}
