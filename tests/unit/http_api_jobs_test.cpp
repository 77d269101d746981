#include <memory>

#include "routemaster/job_queue.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string jobs_path = "/v1/queues/images/jobs";

rm::QueueStatus counted(Scenario& bus, const std::string& name = "images") {
    return done(bus.store, rm::CountJobs{name});
}

/// The READY jobs of the queue.
std::vector<rm::JobStatus> ready(Scenario& bus) {
    return done(bus.store, rm::ListJobs{"images", rm::JobStatus::State::ready}).jobs;
}

rm::Lease acquire(Scenario& bus) {
    return done(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}, 1}).leases.at(0);
}

void bury(Scenario& bus) {
    const rm::FailJob step{
        .lease = acquire(bus), .error = "no \"good\"", .run_at = noon, .bury = true};
    CHECK(done(bus.store, step) == rm::Settlement::buried);
}

/// Checks that a push is refused and that the queue stays empty.
void push_refused(Scenario& bus, const std::string& body, const std::string& problem) {
    INFO(body);
    const auto answer = bus.post(jobs_path, root, body);
    CHECK(answer.status == 400);
    CHECK(answer.body == problem);
    CHECK(counted(bus) == rm::QueueStatus{});
}

}  // namespace

TEST_CASE("http api: a job is pushed, and a repeated push is a duplicate") {
    Scenario bus;
    const std::string body = R"({"name":"resize","arguments":[42,"large",{"a":[null,1.5]}]})";
    const auto answer = bus.post(jobs_path, root, body);
    CHECK(answer.status == 200);
    CHECK(answer.content_type == "application/json");
    CHECK(answer.body == R"({"id":1,"outcome":"pushed"})");
    CHECK(bus.post(jobs_path, root, body).body == R"({"id":1,"outcome":"duplicate"})");
    CHECK(counted(bus) == rm::QueueStatus{.ready = 1});
    const auto job = rm::decode_job(ready(bus).at(0).job).value();
    CHECK(job.name == "resize");
    CHECK(job.arguments.at(2) ==
          rm::Value{rm::Value::Map{{"a", rm::Value::Array{rm::Value{}, 1.5}}}});
}

TEST_CASE("http api: a push accepts all options of a job") {
    Scenario bus;
    CHECK(
        bus.post(jobs_path, root,
                 R"({"name":"a","delay":5000,"attempts_max":3,"timeout":700,"expires":60000,)"
                 R"("priority":-7,)"
                 R"("unique":{"key":"k","scope":"for_time","time":9000,"on_duplicate":"replace"},)"
                 R"("metadata":{"trace":"t"},"group":"account:42","concurrency":3})")
            .status == 200);
    const auto status = done(bus.store, rm::FindJob{"images", 1}).value();
    CHECK(status.state == rm::JobStatus::State::scheduled);
    CHECK(status.run_at == noon + rm::Duration{5'000});
    CHECK(status.options.attempts_max == 3);
    CHECK(status.options.priority == -7);
    CHECK(status.options.timeout == rm::Duration{700});
    CHECK(status.options.group == "account:42");
    CHECK(status.options.concurrency == 3);
    CHECK(bus.get(jobs_path + "/1", root).body.find(R"("group":"account:42","concurrency":3,)") !=
          std::string::npos);
    CHECK(status.options.expires_at == noon + rm::Duration{65'000});
    CHECK(status.options.key == rm::JobKey{.text = "k",
                                           .scope = rm::KeyScope::for_time,
                                           .until = noon + rm::Duration{9'000}});
    CHECK(status.options.metadata == rm::JobMetadata{{"trace", "t"}});
    CHECK(bus.post(jobs_path, root,
                   R"({"name":"b","run_at":1795222901124,"unique":{"key":"k",)"
                   R"("on_duplicate":"debounce"}})")
              .body == R"({"id":1,"outcome":"replaced"})");
    for (int i = 0; i < 2; ++i) {
        CHECK(bus.post(jobs_path, root, R"({"name":"c","unique":false})").body.find("pushed") !=
              std::string::npos);
    }
    CHECK(counted(bus) == rm::QueueStatus{.scheduled = 1, .ready = 2});
}

TEST_CASE("http api: a job is shown with all settings, and with its dependencies") {
    Scenario bus;
    const auto at = [](int later) {
        return std::to_string(rm::to_milliseconds(noon + rm::Duration{later}));
    };
    CHECK(bus.post("/v1/job-batches", root, "{}").status == 200);
    CHECK(bus.post(jobs_path, root, R"({"name":"first"})").status == 200);
    CHECK(bus.post(jobs_path, root,
                   R"({"name":"resize","arguments":[42],"run_at":)" + at(5'000) +
                       R"(,"attempts_max":3,"timeout":700,"expires":60000,"priority":-7,)"
                       R"("unique":{"key":"k"},"metadata":{"trace":"t"},"group":"account:42",)"
                       R"("concurrency":3,"after":[1],"batch":1})")
              .status == 200);
    const auto shown =
        R"({"id":2,"state":"scheduled","name":"resize","arguments":[42],"attempts":0,)"
        R"("attempts_max":3,"priority":-7,"timeout":700,"run_at":)" +
        at(5'000) + R"(,"after":[1],"expires_at":)" + at(65'000) +
        R"(,"buried_at":null,"key":"k","group":"account:42","concurrency":3,"batch":1,)"
        R"("worker":null,"cancelled":false,"metadata":{"trace":"t"},"errors":[]})";
    CHECK(bus.get(jobs_path + "/2", root).body == shown);
    CHECK(bus.get(jobs_path + "?state=scheduled", root).body == "[" + shown + "]");
    CHECK(bus.get(jobs_path + "/2/explanation", root).body.ends_with(R"(,"job":)" + shown + "}"));
}

TEST_CASE("http api: a job is shown with its worker, and with the attempt and time of each error") {
    Scenario bus;
    CHECK(bus.post(jobs_path, root, R"({"name":"a"})").status == 200);
    const auto first = acquire(bus);
    done(bus.store, rm::FailJob{.lease = first, .error = "early", .run_at = noon});
    const auto later = noon + rm::Duration{1'000};
    const auto second =
        rm::perform(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}, 1}, later).value();
    const rm::FailJob failure{.lease = second.leases.at(0), .error = "late", .run_at = later};
    CHECK(rm::perform(bus.store, failure, later).value() == rm::Settlement::settled);
    static_cast<void>(
        rm::perform(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}, 1}, later).value());
    CHECK(bus.post(jobs_path + "/1/cancel", root, "").body == R"({"outcome":"requested"})");
    const auto at = [](rm::TimePoint time) { return std::to_string(rm::to_milliseconds(time)); };
    const auto errors = R"("errors":[{"attempt":1,"at":)" + at(noon) +
                        R"(,"text":"early"},{"attempt":2,"at":)" + at(later) +
                        R"(,"text":"late"}]})";
    const auto shown = bus.get(jobs_path + "/1", root).body;
    CAPTURE(shown);
    CHECK(shown.starts_with(R"({"id":1,"state":"pending","name":"a","arguments":[],"attempts":)"));
    CHECK(shown.ends_with(R"("worker":")" + std::string{rm::Uid{1, 1}.text()} +
                          R"(","cancelled":true,"metadata":{},)" + errors));
    CHECK(bus.get(jobs_path + "?state=pending", root).body == "[" + shown + "]");
}

TEST_CASE("http api: an explanation counts the workers of the queue, and names BURIED jobs") {
    Scenario bus;
    CHECK(bus.post(jobs_path, root, R"({"name":"a"})").status == 200);
    CHECK(bus.post(jobs_path, root, R"({"name":"b","after":[1]})").status == 200);
    bury(bus);
    CHECK(bus.get(jobs_path + "/2/explanation", root).body.find(R"("buried":[1],)") !=
          std::string::npos);
    rm::WorkerProfile profile{.name = "thumbs",
                              .since = noon,
                              .queues = {"images"},
                              .others = rm::WorkerProfile::Others::refused,
                              .capacity = 8};
    profile.list_handlers({"c"});
    done(bus.store, rm::Heartbeat{rm::Uid{1ULL << 60U, 1},
                                  std::make_shared<const rm::WorkerProfile>(profile), 8, noon});
    profile.list_handlers({"d"});
    profile.capacity = 3;
    done(bus.store, rm::Heartbeat{rm::Uid{1ULL << 61U, 1},
                                  std::make_shared<const rm::WorkerProfile>(profile), 1, noon});
    CHECK(bus.post(jobs_path, root, R"({"name":"c"})").status == 200);
    const auto now = std::to_string(rm::to_milliseconds(noon));
    CHECK(bus.get(jobs_path + "/3/explanation", root)
              .body.find(R"("workers":{"workers":2,"handling":1,"full":1,"capacity":8,)"
                         R"("busy_since":)" +
                         now + R"(,"unprofiled":1,"last_at":)" + now + "}") != std::string::npos);
}

TEST_CASE("http api: an invalid job is refused, and an array with an invalid job pushes no job") {
    Scenario bus;
    push_refused(bus, "",
                 "JSON: syntax error while parsing value - unexpected end of input at byte 0");
    push_refused(bus, "7", "job: must be an object");
    push_refused(bus, "{}", "name: is missing");
    push_refused(bus, R"({"name":7})", "name: requires a string");
    push_refused(bus, R"({"name":""})", "name: must not be empty");
    push_refused(bus, R"({"name":"a","arguments":{}})", "arguments: must be an array");
    push_refused(bus, R"({"name":"a","delay":-1})",
                 "delay: must be an integer from 0 to 31536000000000");
    push_refused(bus, R"({"name":"a","delay":1.5})",
                 "delay: must be an integer from 0 to 31536000000000");
    push_refused(bus, R"({"name":"a","run_at":9007199254740992})",
                 "run_at: must be an integer from 0 to 9007199254740991");
    push_refused(bus, R"({"name":"a","attempts_max":4294967296})",
                 "attempts_max: must be an integer from 0 to 4294967295");
    push_refused(bus, R"({"name":"a","priority":101})",
                 "priority: must be an integer from -100 to 100");
    push_refused(bus, R"({"name":"a","concurrency":2})",
                 "concurrency: is allowed only with a group");
    push_refused(bus, R"({"name":"a","group":"g","concurrency":1001})",
                 "concurrency: must be an integer from 1 to 1000");
    push_refused(bus, R"({"name":"a","group":7})", "group: requires a string");
    push_refused(bus, R"({"name":"a","group":""})", "group: must not be empty");
    push_refused(bus, R"({"name":"a","priority":false})",
                 "priority: must be an integer from -100 to 100");
    push_refused(bus, R"({"name":"a","priorty":1})", R"(unknown field "priorty")");
    push_refused(bus, R"({"name":"a","unique":7})",
                 "unique: must be true, false, or an object with a key");
    push_refused(bus, R"({"name":"a","unique":{}})", "unique.key: is missing");
    push_refused(bus, R"({"name":"a","unique":{"key":""}})", "unique.key: must not be empty");
    push_refused(bus, R"({"name":"a","unique":{"key":")" + std::string(257, 'k') + R"("}})",
                 "unique.key: must have at most 256 bytes");
    push_refused(bus, R"({"name":"a","unique":{"key":"k","scope":"x"}})",
                 "unique.scope: must be until_done, until_started or for_time");
    push_refused(bus, R"({"name":"a","unique":{"key":"k","scope":"for_time"}})",
                 "unique.time: must be positive");
    push_refused(bus, R"({"name":"a","unique":{"key":"k","time":60000}})",
                 "unique.time: is allowed only with the scope for_time");
    push_refused(bus, R"({"name":"a","unique":{"key":"k","on_duplicate":"debounce","time":60000}})",
                 "unique.time: is allowed only with the scope for_time");
    push_refused(bus, R"({"name":"a","delay":5,"run_at":6})",
                 "delay: cannot be combined with run_at");
    push_refused(bus, R"({"name":"a","metadata":{"a":1}})",
                 "metadata: must be an object of strings");
    push_refused(bus, R"({"name":"a","metadata":{"":"x"}})", "metadata: a name must not be empty");
    push_refused(bus, R"([{"name":"a"},{"name":7}])", "jobs[1]: name: requires a string");
    push_refused(bus, R"([{"name":"a","after":[999999]}])",
                 "jobs[0]: after: no job has had the id 999999");
    push_refused(bus, R"([{"name":"a"},{"name":"b","metadata":{"":"x"}}])",
                 "jobs[1]: metadata: a name must not be empty");
    std::string many{"["};
    for (int i = 0; i < 1'001; ++i) many += (i == 0 ? "" : ",") + std::string{R"({"name":"a"})"};
    push_refused(bus, many + "]", "jobs: must have no more entries than 1000");
    push_refused(
        bus, R"({"name":"a","arguments":[)" + std::string(64, '[') + std::string(64, ']') + "]}",
        "JSON: nested too deep at byte 88");
}

TEST_CASE("http api: a repeated push with its Idempotency-Key has an equal response") {
    Scenario bus;
    const auto push = [&bus](const std::string& key, const std::string& body) {
        auto sent = request("POST", jobs_path, root, body);
        sent.idempotency_key = key;
        return bus.ask(std::move(sent));
    };
    const std::string body = R"({"name":"a","unique":false})";
    CHECK(push("k", body).body == R"({"id":1,"outcome":"pushed"})");
    CHECK(push("k", body).body == R"({"id":1,"outcome":"pushed"})");
    done(bus.store, rm::AckJob{acquire(bus)});
    CHECK(push("k", R"( {"unique":false, "name":"a"} )").body == R"({"id":1,"outcome":"pushed"})");
    CHECK(counted(bus) == rm::QueueStatus{});
    const auto other = push("k", R"({"name":"b","unique":false})");
    CHECK(other.status == 400);
    CHECK(other.body == "idempotency_key: was used for a push with other content");
    CHECK(push("other", body).body == R"({"id":2,"outcome":"pushed"})");
    const auto many = R"([{"name":"x"},{"name":"y"}])";
    CHECK(push("k", many).body == R"([{"id":3,"outcome":"pushed"},{"id":4,"outcome":"pushed"}])");
    CHECK(push("k", many).body == R"([{"id":3,"outcome":"pushed"},{"id":4,"outcome":"pushed"}])");
    CHECK(push("k", R"([{"name":"x"},{"name":"z"},{"name":"w"}])").body ==
          R"([{"id":3,"outcome":"pushed"},{"id":null,"outcome":"failed","error":)"
          R"("idempotency_key: was used for a push with other content"},)"
          R"({"id":5,"outcome":"pushed"}])");
    CHECK(counted(bus) == rm::QueueStatus{.ready = 4});
    CHECK(push(std::string(250, 'k'), many).status == 200);
    const auto refused = push(std::string(251, 'k'), body);
    CHECK(refused.status == 400);
    CHECK(refused.body == "Idempotency-Key: must have at most 250 bytes");
}

TEST_CASE("http api: many jobs are pushed in one request") {
    Scenario bus;
    const auto answer =
        bus.post(jobs_path, root,
                 R"([{"name":"a"},{"name":"b","delay":1000},{"name":"a","metadata":{"x":"y"}}])");
    CHECK(answer.status == 200);
    CHECK(answer.body == R"([{"id":1,"outcome":"pushed"},{"id":2,"outcome":"pushed"},)"
                         R"({"id":1,"outcome":"duplicate"}])");
    CHECK(counted(bus) == rm::QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(bus.post(jobs_path, root, "[]").body == "[]");
}

TEST_CASE("http api: jobs of a queue are counted, listed in pages, and shown") {
    Scenario bus;
    for (const char* name : {"a", "b", "c"}) {
        CHECK(bus.post(jobs_path, root, R"({"name":")" + std::string{name} + R"("})").status ==
              200);
    }
    bury(bus);
    CHECK(bus.get("/v1/queues/images", root).body ==
          R"({"queue":"images","scheduled":0,"ready":2,"pending":0,"buried":1,"paused":false,)"
          R"("due_since":1795222901123,"workers":0,"unprofiled":1,"worker_at":null,)"
          R"("rate_limits":{"queue":null,"each_group":null}})");
    const auto at = std::to_string(rm::to_milliseconds(noon));
    const auto buried =
        R"({"id":1,"state":"buried","name":"a","arguments":[],"attempts":1,"attempts_max":25,)"
        R"("priority":0,"timeout":0,"run_at":null,"after":[],"expires_at":null,)"
        R"("buried_at":)" +
        at + R"(,"key":null,"group":null,"concurrency":1,"batch":null,"worker":null,)" +
        R"("cancelled":false,"metadata":{},)" + R"("errors":[{"attempt":1,"at":)" + at +
        R"(,"text":"no \"good\""}]})";
    CHECK(bus.get(jobs_path + "?state=buried", root).body == "[" + buried + "]");
    CHECK(bus.get(jobs_path + "/1", root).body == buried);
    const auto first = bus.get(jobs_path + "?state=ready&limit=1", root);
    CHECK(first.body.starts_with(R"([{"id":2,"state":"ready","name":"b")"));
    CHECK(header(first, "Link") == "<" + jobs_path + "?state=ready&after=2&limit=1>; rel=\"next\"");
    const auto second = bus.get(jobs_path + "?state=ready&after=2&limit=1", root);
    CHECK(second.body.starts_with(R"([{"id":3,)"));
    CHECK(header(bus.get(jobs_path + "?state=ready&after=3", root), "Link").empty());
    CHECK(bus.get(jobs_path + "?state=pending", root).body == "[]");
    CHECK(bus.get(jobs_path + "?state=ready&after=99999999999999999999", root).body ==
          "after: must be the id of a job");
    CHECK(bus.get(jobs_path, root).body == "state: must be scheduled, ready, pending or buried");
    CHECK(bus.get(jobs_path + "?state=ready&limit=0", root).status == 400);
    for (const std::string id : {"7", "x", "-1", "18446744073709551616"}) {
        CHECK(bus.get(jobs_path + "/" + id, root).status == 404);
    }
}

TEST_CASE("http api: jobs are listed by name or by group") {
    Scenario bus;
    CHECK(bus.post(jobs_path, root,
                   R"([{"name":"a b","arguments":[1],"group":"g&h"},{"name":"c","group":"g&h"},)"
                   R"({"name":"a b","arguments":[2]},{"name":"a b","arguments":[3],"group":"g"}])")
              .status == 200);
    const auto first = bus.get(jobs_path + "?state=ready&name=a%20b&limit=2", root);
    CHECK(first.body.find(R"("arguments":[1])") != std::string::npos);
    CHECK(first.body.find(R"("arguments":[2])") != std::string::npos);
    CHECK(header(first, "Link") ==
          "<" + jobs_path + "?state=ready&name=a%20b&after=3&limit=2>; rel=\"next\"");
    const auto group = bus.get(jobs_path + "?state=ready&name=c&group=g%26h&limit=1", root).body;
    CHECK(group.starts_with(R"([{"id":2,)"));
    CHECK(bus.get(jobs_path + "?state=ready&group=h", root).body == "[]");
    CHECK(bus.get(jobs_path + "?state=ready&group=%zz", root).status == 400);
    for (const std::string field : {"name", "group"}) {
        const auto refused = bus.get(jobs_path + "?state=ready&" + field + "=", root);
        CHECK(refused.status == 400);
        CHECK(refused.body == field + ": must not be empty");
    }
}

TEST_CASE("http api: a job waits for the dependencies in its push") {
    Scenario bus;
    const auto push = [&](const std::string& after) {
        return bus.post(jobs_path, root, R"({"name":"b","after":)" + after + "}");
    };
    CHECK(bus.post(jobs_path, root, R"({"name":"a"})").status == 200);
    for (const char* bad : {"1", "[\"1\"]", "[0]", "[-1]", "[1.5]", "[2]", "{}"}) {
        const auto answer = push(bad);
        CHECK(answer.status == 400);
        CHECK(answer.body.starts_with("after: "));
    }
    // In a list of jobs, errors that only the store can find are reported per job.
    CHECK(bus.post(jobs_path, root, R"([{"name":"a"},{"name":"b","after":[2]}])").body ==
          R"([{"id":1,"outcome":"duplicate"},{"id":null,"outcome":"failed",)"
          R"("error":"after: no job has had the id 2"}])");
    CHECK(push("[1]").body == R"({"id":2,"outcome":"pushed"})");
    CHECK(counted(bus) == rm::QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(bus.get(jobs_path + "/2", root).body.find(R"("after":[1])") != std::string::npos);
    CHECK(bus.remove(jobs_path + "/1", root).status == 204);
    CHECK(bus.get(jobs_path + "/2", root)
              .body.find(R"("text":"job 1, which it waited for, was deleted")") !=
          std::string::npos);
}

TEST_CASE("http api: a job gives the reason for its wait") {
    Scenario bus;
    const auto explanation = [&](const std::string& id) {
        return bus.get(jobs_path + "/" + id + "/explanation", root);
    };
    CHECK(bus.post(jobs_path, root, R"({"name":"a","group":"g"})").status == 200);
    CHECK(bus.post(jobs_path, root, R"({"name":"b","group":"g"})").status == 200);
    const auto blocked = explanation("2").body;
    CHECK(blocked.starts_with(
        R"({"reason":"group_is_full","text":"job 1 of its group 'g', of which 1 may be under way, )"
        R"(is before it","before":[1],"buried":[],"leased_at":null,"heard_at":null,)"
        R"("limited_until":null,"workers":{"workers":0,"handling":0,"full":0,"capacity":0,)"
        R"("busy_since":null,"unprofiled":0,"last_at":null},"job":{"id":2,)"));
    CHECK(explanation("1").body.starts_with(
        R"({"reason":"no_worker","text":"no worker serves its queue","before":[],)"));
    const auto lease = acquire(bus);
    const auto leased = explanation("1").body;
    CHECK(leased.starts_with(R"({"reason":"leased","text":"worker )"));
    CHECK(leased.find(R"("leased_at":null)") == std::string::npos);
    CHECK(leased.find(R"("heard_at":null)") == std::string::npos);
    CHECK(explanation("3").status == 404);
    CHECK(explanation("x").status == 404);

    CHECK(bus.ask(request("PUT", "/v1/queues/images/rate_limits", root,
                          R"({"queue":{"jobs":1,"per":2000}})"))
              .status == 204);
    CHECK(bus.post(jobs_path, root, R"({"name":"c"})").status == 200);
    CHECK(bus.post(jobs_path, root, R"({"name":"d"})").status == 200);
    static_cast<void>(acquire(bus));
    const auto limited = explanation("4").body;
    CHECK(limited.starts_with(
        R"({"reason":"rate_limited","text":"the rate limit of its queue is used up",)"));
    CHECK(limited.find(R"("limited_until":)" + std::to_string(rm::to_milliseconds(noon) + 2'000)) !=
          std::string::npos);
}

TEST_CASE("http api: a page of jobs ends at its size limit") {
    Scenario bus;
    for (char c = 'a'; c < 'e'; ++c) {
        CHECK(bus.post(jobs_path, root,
                       R"({"name":"big","arguments":[")" + std::string(600'000, c) + R"("]})")
                  .status == 200);
    }
    const auto page = bus.get(jobs_path + "?state=ready", root);
    CHECK(page.body.size() < 1'300'000);
    CHECK(header(page, "Link") ==
          "<" + jobs_path + "?state=ready&after=2&limit=100>; rel=\"next\"");
}

TEST_CASE("http api: one BURIED job can be kicked (started again), or many") {
    Scenario bus;
    for (const char* name : {"a", "b", "c"}) {
        CHECK(bus.post(jobs_path, root, R"({"name":")" + std::string{name} + R"("})").status ==
              200);
    }
    for (int i = 0; i < 3; ++i) bury(bus);
    CHECK(bus.post(jobs_path + "/2/kick", root, "").status == 204);
    CHECK(bus.post(jobs_path + "/2/kick", root, "").status == 404);
    CHECK(bus.post("/v1/queues/images/kick", root, R"({"limit":1})").body == R"({"jobs":1})");
    CHECK(bus.post("/v1/queues/images/kick", root, "").body == R"({"jobs":1})");
    CHECK(bus.post("/v1/queues/images/kick", root, "").body == R"({"jobs":0})");
    CHECK(bus.post("/v1/queues/images/kick", root, R"({"limit":1001})").status == 400);
    CHECK(counted(bus) == rm::QueueStatus{.ready = 3});
}

TEST_CASE("http api: jobs are cancelled and deleted, but a leased job is not deleted") {
    Scenario bus;
    for (const char* name : {"a", "b", "c"}) {
        CHECK(bus.post(jobs_path, root, R"({"name":")" + std::string{name} + R"("})").status ==
              200);
    }
    acquire(bus);
    CHECK(bus.remove(jobs_path + "/1", root).status == 409);
    CHECK(bus.post(jobs_path + "/1/cancel", root, "").body == R"({"outcome":"requested"})");
    CHECK(bus.get(jobs_path + "/1", root).body.find(R"("cancelled":true)") != std::string::npos);
    CHECK(bus.post(jobs_path + "/2/cancel", root, "").body == R"({"outcome":"cancelled"})");
    CHECK(bus.post(jobs_path + "/2/cancel", root, "").status == 404);
    CHECK(bus.remove(jobs_path + "/3", root).status == 204);
    CHECK(bus.remove(jobs_path + "/3", root).status == 404);
    CHECK(counted(bus) == rm::QueueStatus{.pending = 1});
}

TEST_CASE("http api: requests without settings refuse a body with settings") {
    Scenario bus;
    CHECK(bus.post(jobs_path, root, R"({"name":"a"})").status == 200);
    for (const std::string& path :
         {jobs_path + "/1/cancel", jobs_path + "/1/kick", std::string{"/v1/queues/images/pause"},
          std::string{"/v1/queues/images/resume"}, std::string{"/v1/recurring/a/pause"},
          std::string{"/v1/recurring/a/resume"}, std::string{"/v1/recurring/a/run"}}) {
        CAPTURE(path);
        refused(bus, request("POST", path, root, R"({"for":60})"), 400, R"(unknown field "for")");
        CHECK(bus.post(path, root, "x").status == 400);
    }
    CHECK(counted(bus) == rm::QueueStatus{.ready = 1});
    CHECK(bus.post("/v1/queues/images/pause", root, "{}").status == 204);
}

TEST_CASE("http api: the bus's delivery queue is refused, and jobs of Ruby's queues have no ids") {
    Scenario bus;
    const std::string body = R"({"name":"a"})";
    refused(bus, request("POST", "/v1/queues/main/jobs", root, body), 400,
            "queue: main is reserved for deliveries");
    for (const auto* jobs : {"[]", R"([{"name":"a"}])"}) {
        CAPTURE(jobs);
        refused(bus, request("POST", "/v1/queues/main/jobs", root, jobs), 400,
                "queue: main is reserved for deliveries");
        CHECK(bus.post("/v1/queues/a:b/jobs", root, jobs).status == 400);
    }
    for (const auto& wanted : std::vector<std::pair<std::string, std::string>>{
             {"POST", "pause"}, {"GET", "throughput"}, {"GET", "jobs/1"}}) {
        CAPTURE(wanted.second);
        refused(bus, request(wanted.first, "/v1/queues/main/" + wanted.second, root), 400,
                "queue: main is reserved for deliveries");
    }
    CHECK(bus.post("/v1/queues/aux/jobs", root, body).body == R"({"id":null,"outcome":"pushed"})");
    CHECK(bus.get("/v1/queues/aux", root).body.find(R"("ready":1)") != std::string::npos);
    refused(bus, request("POST", "/v1/queues/aux/jobs", root, R"({"name":"b","timeout":5})"), 400,
            "options: are not allowed in Ruby Routemaster's queues");
    refused(bus, request("GET", "/v1/queues/aux/jobs/1", root), 400,
            "queue: aux belongs to Ruby Routemaster, whose jobs have no ids");
    refused(bus, request("POST", "/v1/queues/a:b/jobs", root, body), 400,
            "queue: must be 1 to 64 of A-Z, a-z, 0-9, _, - and ., but not . or ..");
}

TEST_CASE("http api: the routes of jobs accept the root token alone") {
    Scenario bus;
    for (const auto& user : {std::string{shop}, std::string{}}) {
        refused(bus, request("POST", jobs_path, user, R"({"name":"a"})"), 401,
                "this endpoint requires authentication with a root token");
        CHECK(bus.get("/v1/queues/images", user).status == 401);
        CHECK(bus.post("/v1/queues/images/lease", user, "{}").status == 401);
    }
    CHECK(counted(bus) == rm::QueueStatus{});
    // Without a `JobLeases` object the routes for leases do not exist.
    CHECK(bus.post("/v1/queues/images/lease", root, "{}").status == 404);
    CHECK(bus.post(jobs_path + "/1/ack", root, "{}").status == 404);
}
