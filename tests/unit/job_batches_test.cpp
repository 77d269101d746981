/// @file
/// The interface `JobBatches`. The conformance suite tests the stores.

#include "routemaster/job_batches.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/batch_callback.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "routemaster/testing/job_tester.hpp"

using namespace routemaster;
using testing::JobTester;

namespace {

struct Sum {
    static constexpr std::string_view name = "sum";
    std::int64_t number = 0;

    [[nodiscard]] Value::Array encode() const { return {number}; }
    static Result<Sum> decode(const Value::Array& arguments) {
        const auto* number = arguments.size() == 1 ? arguments[0].get_if<std::int64_t>() : nullptr;
        if (number == nullptr) return Error{Errc::invalid, "number"};
        return Sum{*number};
    }
};

}  // namespace

TEST_CASE("a batch of jobs has the given name, or a generated name") {
    JobTester tester{{.queues = {"work"}}};
    JobBatches batches{tester.store(), tester.clock()};
    const auto first = batches.create({}).value();
    const auto second = batches.create({}).value();
    CHECK(first.created);
    CHECK(second.id != first.id);
    CHECK(batches.create({.name = "import"}).value() == JobBatchCreated{second.id + 1, true});
    CHECK(batches.create({.name = "import"}).value() == JobBatchCreated{second.id + 1, false});
    CHECK(batches.list(false, second.id).value().batches.at(0).settings.name == "import");
    CHECK(batches.close(first.id).value());
    CHECK(batches.close(first.id).value());
    CHECK(!batches.close(99).value());
    CHECK(batches.list(true).value().batches.size() == 1);
    CHECK(batches.remove(first.id).value() == Removal::removed);
    CHECK(!batches.find(first.id).value());
}

TEST_CASE("every call about batches of jobs also exists with a completion") {
    JobTester tester{{.queues = {"work"}}};
    JobBatches batches{tester.store(), tester.clock()};
    JobBatchId id = 0;
    batches.create({.name = "import"},
                   [&](const Result<JobBatchCreated>& reply) { id = reply.value().id; });
    std::vector<std::string> seen;
    batches.find(id, [&](const Result<std::optional<JobBatch>>& found) {
        seen.push_back(found.value()->settings.name);
    });
    batches.list(false, 0, 1, [&](const Result<JobBatchPage>& page) {
        seen.push_back(std::to_string(page.value().batches.size()));
    });
    batches.close(id, [&](const Result<bool>& closed) {
        seen.emplace_back(closed.value() ? "closed" : "unknown");
    });
    batches.remove(id, [&](const Result<Removal>& removal) {
        seen.emplace_back(removal.value() == Removal::removed ? "removed" : "unknown");
    });
    CHECK(seen == std::vector<std::string>{"import", "1", "closed", "removed"});
    batches.create({.name = "x", .on_end = JobBatchCallback{.queue = "work", .job = "not a job"}},
                   [&](const Result<JobBatchCreated>& reply) {
                       CHECK(reply.error().context() == "on_end: job: must be an encoded job");
                   });
}

TEST_CASE("the callback of a batch of jobs must be a job that a push accepts") {
    const auto typed = batch_callback("work", Sum{7}, {.priority = 3});
    CHECK(typed.job == encode_job({"sum", {7}}));
    CHECK(typed.priority == 3);
    JobTester tester{{.queues = {"work"}}};
    JobBatches batches{tester.store(), tester.clock()};
    const auto refused = [&](const JobBatchSettings& settings) {
        const auto reply = batches.create(settings);
        REQUIRE(!reply);
        CHECK(reply.error().code() == Errc::invalid);
        return reply.error().context();
    };
    CHECK(refused({.name = {}, .on_success = batch_callback("work", Job{"", {}})})
              .starts_with("on_success: name"));
    CHECK(refused({.name = {}, .on_end = batch_callback("main", Job{"a", {}})})
              .starts_with("on_end: queue"));
    CHECK(refused({.name = {},
                   .on_end = batch_callback("work", Job{"a", {}}, {.timeout = Duration{-1}})}) ==
          "on_end: timeout: must not be negative");
    CHECK(batches.list(false).value().batches.empty());
}

TEST_CASE("a handler can read its job's batch, and push into it until the batch has ended") {
    JobTester tester{{.queues = {"work", "after"}}};
    JobBatches batches{tester.store(), tester.clock()};
    auto work = tester.queue("work");
    JobBatchId seen = 0;
    std::int64_t sum = 0;
    int ends = 0;
    tester.pool().handle<Sum>([&](const Sum& one, JobContext& job) {
        seen = job.batch();
        sum += one.number;
        if (one.number > 1) job.push("work", Sum{one.number - 1}, {.batch = job.batch()}).value();
    });
    tester.pool().handle("end", [&](const JobContext& job) {
        CHECK(job.batch() == 0);
        CHECK(job.metadata().at("batch") == std::to_string(seen));
        ++ends;
    });
    const auto batch =
        batches.create({.name = "sums", .on_end = batch_callback("after", Job{"end", {}})}).value();
    work.push(Sum{4}, {.batch = batch.id}).value();
    batches.close(batch.id).value();
    tester.drain();
    CHECK(seen == batch.id);
    CHECK(sum == 10);
    CHECK(ends == 1);
    CHECK(batches.find(batch.id).value()->progress == JobBatchProgress{.total = 4, .succeeded = 4});
    const auto late = work.push(Sum{9}, {.batch = batch.id});
    CHECK(late.error().context() == "batch: batch 1 has ended");
}

TEST_CASE("an attempt fails when its push into an ended batch of jobs is refused") {
    JobTester tester{{.queues = {"work"}}};
    JobBatches batches{tester.store(), tester.clock()};
    const auto batch = batches.create({.name = "over"}).value().id;
    batches.close(batch).value();
    tester.pool().handle("a", [&](JobContext& job) {
        job.push("work", {"b", {}}, {.batch = batch}).value();
    });
    const auto id = tester.queue("work").push({"a", {}}).value().id;
    tester.drain();
    const auto status = tester.queue("work").find(id).value();
    REQUIRE(status);
    REQUIRE(status->errors.size() == 1);
    CHECK(status->errors[0].text.find("batch 1 has ended") != std::string::npos);
}

TEST_CASE("a tester that runs jobs at once runs the callbacks of batches") {
    JobTester tester{{.queues = {"work"}}};
    JobBatches batches{tester.store(), tester.clock()};
    int ends = 0;
    tester.pool().handle("a", [](const JobContext&) {});
    tester.pool().handle("end", [&](const JobContext&) { ++ends; });
    tester.run_at_once(true);
    const auto create = [&](const char* name) {
        return batches.create({.name = name, .on_end = batch_callback("work", Job{"end", {}})})
            .value()
            .id;
    };
    batches.close(create("empty")).value();
    CHECK(ends == 1);
    const auto batch = create("full");
    tester.queue("work").push({"a", {}}, {.batch = batch}).value();
    batches.close(batch).value();
    CHECK(ends == 2);
}

TEST_CASE("the encoded callback of a batch keeps all of its fields, and any metadata") {
    JobBatchCallback callback{.queue = "work", .job = "job", .attempts_max = 0, .priority = -100};
    callback.timeout = Duration{1};
    constexpr std::array<std::size_t, 5> sizes{0, 1, 15, 16, 31};
    for (const auto entries : sizes) {
        callback.metadata.clear();
        for (std::size_t n = 0; n < entries; ++n) {
            callback.metadata[std::string(n % 40 + 1, n % 2 == 0 ? 'a' : 'z')] =
                "\xa5"
                "batch";
        }
        CHECK(detail::decode_callback(detail::encode_callback(callback)).value() == callback);
    }
    CHECK(!detail::decode_callback({}).value());
    CHECK(detail::decode_callback("x").error().code() == Errc::corrupted);
}
