/// @file
/// A batch of many jobs, its progress, and a callback job that is pushed when all jobs are done.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <routemaster/routemaster.hpp>
#include <routemaster/testing/job_tester.hpp>

namespace rm = routemaster;

int main() {
    // A real program uses a store in a file, and a `rm::WorkerPool` with threads.
    rm::testing::JobTester tester{{.queues = {"imports", "mail"}}};
    rm::JobBatches batches{tester.store(), tester.clock()};
    auto imports = tester.queue("imports");
    int pages = 0;
    int mails = 0;

    // Each file has several pages. The handler pushes a job for each page into its own job's batch.
    tester.pool().handle("file", [&](rm::JobContext& job) {
        for (std::int64_t page = 1; page <= 2; ++page) {
            job.push("imports", {"page", {job.arguments().at(0), page}}, {.batch = job.batch()})
                .value();
        }
    });
    tester.pool().handle("page", [&](const rm::JobContext& job) {
        if (job.attempt() == 1) throw std::runtime_error{"the database is busy"};
        ++pages;
    });
    // The metadata of a callback contain the id of its batch, by which it reads the progress.
    tester.pool().handle("imported", [&](const rm::JobContext& job) {
        const auto batch = batches.find(std::stoull(job.metadata().at("batch"))).value();
        std::cout << batch->settings.name << ": " << batch->progress.succeeded << " jobs\n";
        ++mails;
    });

    const auto batch =
        batches
            .create({.name = "import 2030-05-01",
                     .on_success = rm::batch_callback("mail", rm::Job{"imported", {}})})
            .value();
    for (const char* file : {"customers", "orders", "refunds"}) {
        imports.push({"file", {file}}, {.batch = batch.id}).value();
    }
    batches.close(batch.id).value();  // Only a closed batch can end.

    tester.drain();
    const auto under_way = batches.find(batch.id).value()->progress;
    const bool waits = under_way.total == 9 && under_way.succeeded == 3 && mails == 0;
    tester.advance(std::chrono::minutes{1});  // The pages are retried.

    const bool right = waits && pages == 6 && mails == 1;
    std::cout << (right ? "six pages, and one mail\n" : "the batch is wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
