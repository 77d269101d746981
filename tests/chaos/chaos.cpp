#include "chaos/chaos.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/job_queues.hpp"
#include "routemaster/job_workers.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/redis.hpp"
#include "support/await.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {
namespace {

using std::chrono::milliseconds;

/// The interval between two iterations of the supervisor.
constexpr milliseconds turn{10};
/// The maximum of waiting jobs: a small queue is done soon after the end.
constexpr std::uint64_t waiting_max = 300;
constexpr std::uint64_t pushed_together = 50;

class ChaosSupervisor {
public:
    explicit ChaosSupervisor(const ChaosOptions& options)
        : options_{options}, random_{options.seed}, workers_(options.workers) {}

    ChaosReport run() {
        for (auto& worker : workers_) start(worker);
        const auto end = chaos_now() + options_.duration;
        for (auto now = chaos_now(); now < end; now = chaos_now()) {
            push();
            for (auto& worker : workers_) resume_when_due(worker, now);
            if (now >= next_trouble_) {
                make_trouble(workers_[random_.below(workers_.size())], now);
                next_trouble_ = now + milliseconds{50 + random_.below(1'200)};
            }
            std::this_thread::sleep_for(turn);
        }
        for (auto& worker : workers_) resume(worker);
        if (!await([&] { return queue_.status().value() == QueueStatus{}; }, end_timeout)) {
            throw std::runtime_error{"jobs are left: " + status_text()};
        }
        for (auto& worker : workers_) stop(worker);
        report_.pushed = record_.pushed.size();
        const auto slack = 2 * chaos_pulse_interval;
        report_.findings = check_chaos(std::move(record_),
                                       {.silence = options_.silence - options_.heartbeat - slack,
                                        .discovery = 2 * options_.heartbeat + slack});
        check_store();
        return std::move(report_);
    }

private:
    static constexpr milliseconds end_timeout{60'000};

    struct Worker {
        std::unique_ptr<Process> process;
        std::filesystem::path file;
        ChaosTime born{};
        std::optional<ChaosTime> frozen_until{};
    };

    void start(Worker& worker) {
        worker.file = folder_.path() / std::to_string(started_++);
        worker.born = chaos_now();
        worker.process = std::make_unique<Process>(std::vector<std::string>{
            options_.worker_program, std::to_string(server_.port()), worker.file.string(),
            std::to_string(random_.next() >> 1U), std::to_string(options_.silence.count()),
            std::to_string(options_.heartbeat.count())});
    }

    void ended(Worker& worker) {
        read_chaos_log(worker.file, worker.born, chaos_now(), record_);
        worker.process.reset();
    }

    void kill(Worker& worker) {
        ++report_.killed;
        if (worker.frozen_until) ++report_.killed_frozen;
        worker.frozen_until.reset();
        worker.process->signal(SIGKILL);
        const int status = worker.process->wait();
        if (status != 128 + SIGKILL) {
            throw std::runtime_error{"a worker ended by itself: " + worker.process->errors()};
        }
        ended(worker);
    }

    void stop(Worker& worker) {
        worker.process->signal(SIGTERM);
        if (worker.process->wait() != 0) {
            throw std::runtime_error{"a worker failed: " + worker.process->errors()};
        }
        ended(worker);
    }

    void freeze(Worker& worker, ChaosTime now) {
        ++report_.frozen;
        worker.process->signal(SIGSTOP);
        const auto silence = static_cast<std::uint64_t>(options_.silence.count());
        // Half of the frozen workers stay frozen until other workers have taken over their jobs.
        const auto span =
            random_.below(2) == 0 ? random_.below(silence / 2) : silence + random_.below(silence);
        worker.frozen_until = now + milliseconds{span};
    }

    static void resume(Worker& worker) {
        if (!std::exchange(worker.frozen_until, std::nullopt)) return;
        worker.process->signal(SIGCONT);
    }

    static void resume_when_due(Worker& worker, ChaosTime now) {
        if (worker.frozen_until && *worker.frozen_until <= now) resume(worker);
    }

    /// Whether another worker can take over.
    [[nodiscard]] bool others_run(const Worker& worker) const {
        return std::any_of(workers_.begin(), workers_.end(), [&](const Worker& other) {
            return &other != &worker && !other.frozen_until;
        });
    }

    void make_trouble(Worker& worker, ChaosTime now) {
        // Most of the frozen workers continue.
        if (worker.frozen_until && random_.below(4) != 0) return;
        if (random_.below(2) == 0) {
            kill(worker);
            start(worker);
        } else if (!worker.frozen_until && others_run(worker)) {
            freeze(worker, now);
        }
    }

    void push() {
        const auto status = queue_.status().value();
        if (status.ready + status.scheduled > waiting_max) return;
        std::vector<Job> jobs;
        for (std::uint64_t i = 0; i < pushed_together; ++i) {
            jobs.push_back({chaos_job, {static_cast<std::int64_t>(++last_number_)}});
        }
        // Workers that die use up attempts of their jobs, so the attempts are unlimited.
        for (const auto& pushed : queue_.push_many(jobs, {.attempts_max = 0})) {
            if (!(pushed.value() == PushOutcome::pushed)) throw std::runtime_error{"a duplicate"};
        }
        for (auto n = pushed_together; n > 0; --n) record_.pushed.push_back(last_number_ + 1 - n);
    }

    [[nodiscard]] std::string status_text() {
        const auto status = queue_.status().value();
        std::ostringstream text;
        text << status.scheduled << " scheduled, " << status.ready << " ready, " << status.pending
             << " pending, " << status.buried << " buried";
        return text.str();
    }

    /// Checks that no job and no lease is left.
    void check_store() {
        const auto violation = [&](const std::string& text) {
            report_.findings.violations.push_back(text);
        };
        if (queue_.status().value() != QueueStatus{}) violation("jobs are left: " + status_text());
        for (const auto& queue : JobQueues{store_}.list().value()) {
            violation("a queue is left: " + queue.name);
        }
        for (const auto& worker : JobWorkers{store_}.list().value()) {
            if (worker.leased != 0)
                violation("a worker has jobs: " + std::string{worker.id.text()});
        }
        for (const auto& counter : Bus{store_}.counters({.limit = 1'000}).value()) {
            if (counter.key.name == "jobs.scrubbed") {
                report_.scrubbed += static_cast<std::uint64_t>(counter.value);
            }
        }
    }

    const ChaosOptions& options_;
    Random random_;
    RedisServer server_;
    TemporaryFolder folder_;
    RedisStore store_{{.addresses = {server_.address()}}};
    JobQueue queue_{store_, chaos_queue};
    std::vector<Worker> workers_;
    std::size_t started_ = 0;
    ChaosTime next_trouble_{};
    std::uint64_t last_number_ = 0;
    ChaosRecord record_;
    ChaosReport report_;
};

}  // namespace

std::string ChaosReport::text() const {
    std::ostringstream text;
    text << pushed << " jobs pushed, " << findings.done << " done with their follow-ups, "
         << findings.repeated << " runs repeated; " << killed << " workers killed, "
         << killed_frozen << " of them frozen; " << frozen << " frozen, " << findings.silences
         << " silences long enough to lose leases; " << scrubbed << " leases taken back; "
         << findings.overlaps << " runs went on after their job was handed on, " << findings.refused
         << " of them to an end that was refused; " << findings.violations.size() << " violations";
    return text.str();
}

ChaosReport run_chaos(const ChaosOptions& options) { return ChaosSupervisor{options}.run(); }

}  // namespace routemaster::test
