#include "routemaster/store/embedded.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backup.hpp"
#include "backup_request.hpp"
#include "core/store/refused_steps.hpp"
#include "core/store/watchers.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "engine.hpp"
#include "journal_file.hpp"
#include "routemaster/store/completion_thread.hpp"

namespace routemaster {
namespace {

using embedded::DamagedLog;
using embedded::Engine;
using embedded::JournalFile;
using embedded::JournalWriter;
using embedded::PendingReply;

/// How long changes may stay in memory only, if no waiting reply is urgent (`Engine::hurried`).
/// Most changes are written earlier, together with the changes of a later step.
constexpr std::chrono::milliseconds unhurried_sync{50};

/// Delay before the first test of whether a failed disk works again. The delay doubles with each
/// test, up to the maximum.
constexpr std::chrono::milliseconds probe_wait_min{10};
constexpr std::chrono::milliseconds probe_wait_max{200};

/// Interval at which the store checks whether its files are still in place, and whether a full disk
/// has space again. An idle store whose disk is not full checks less often, to save power on an
/// idle machine.
constexpr std::chrono::milliseconds look_wait{500};
constexpr std::chrono::milliseconds idle_look_wait{2'000};

/// Free space required before a full disk counts as no longer full, in units of half a reserve, in
/// addition to the reserve. `space_at_once` applies immediately after a failure, because so much
/// free space means that the problem is solved. `space_later` applies at the periodic check.
/// Completed deliveries alone can free this little space. Without the delay, the store would accept
/// and reject events alternately.
constexpr std::uint64_t space_at_once = 16;
constexpr std::uint64_t space_later = 1;

}  // namespace

/// Owner of the `Engine`: has the lock of the engine and the thread that commits.
struct EmbeddedStore::Impl {
    const detail::OwnerProcess process{"store", "opened", "open"};

    /// What the committing thread is waiting for.
    enum class Sleep {
        none,           ///< Does not wait: the thread is running, or was notified.
        until_hurried,  ///< Waits for an urgent reply.
        until_work,     ///< Waits for any change that must be written.
    };

    Impl(const std::filesystem::path& path, EmbeddedStoreOptions options)
        : file{path, options.accept_damage ? DamagedLog::accepted : DamagedLog::refused,
               options.reserve, options.log},
          requests{file.path(),
                   [this](const auto& target, const auto& stop) { return backup(target, stop); },
                   options.log},
          engine{file, std::move(options)} {
        // An error is ignored, because the first commit tries again.
        (void)file.begin();
        log_whether_full();
        committer = detail::start_thread([this] { commit_until_stopped(); });
    }

    ~Impl() {
        {
            const std::lock_guard lock{mutex};
            stopping = true;
            changed.notify_one();
        }
        detail::join_outside(committer, "store", "a completion");
    }

    Result<EmbeddedBackup> backup(const std::filesystem::path& target,
                                  const std::stop_token& stop = {}) {
        if (CompletionThread::is_this()) {
            return Error{Errc::invalid, "a backup must not run on the thread of the store"};
        }
        const std::unique_lock only{backing_up, std::try_to_lock};
        if (only) return embedded::back_up(file, target, stop);
        return Error{Errc::unavailable, file.path().string() + ": another backup is under way"};
    }

    // --- Submitting -----------------------------------------------------------------------------

    void submit(std::span<Step> steps, TimePoint now, Completion done) {
        PendingReply reply{std::move(done), detail::Outcomes{steps.size()}};
        std::vector<std::string> woken;
        bool at_once = false;
        bool rouse = false;
        {
            const std::lock_guard lock{mutex};
            at_once = engine.submit(steps, now, reply);
            // Otherwise `send` notifies the workers after the commit. If the workers were notified
            // now, they would acquire a job and then wait until its row is on disk, and so be woken
            // twice.
            if (at_once) woken = engine.take_woken();
            rouse = (sleep != Sleep::none && (engine.hurried() || engine.failing())) ||
                    (sleep == Sleep::until_work && engine.has_work());
            if (rouse) sleep = Sleep::none;
        }
        if (rouse) changed.notify_one();
        watchers.wake(woken);
        if (at_once) reply.send();
    }

    // --- Committing -----------------------------------------------------------------------------

    void commit_until_stopped() {
        const CompletionThread marked;
        std::unique_lock lock{mutex};
        while (true) {
            if (engine.failing()) {
                changed.wait_for(lock, probe_wait, [this] { return stopping; });
            } else if (space_to_release && !stopping && !engine.has_work()) {
                shrink(lock);
            } else {
                await_work(lock);
            }
            if (engine.failing()) {
                send(lock, engine.take_refused());
                if (stopping) return;
                try_to_heal(lock);
            } else if (!look(lock) || engine.failing()) {
                // A step may have run out of memory while `look` had unlocked the mutex. The open
                // row is then incomplete and must not be written.
                continue;
            } else if (due()) {
                commit(lock);
            } else if (stopping && !engine.has_work()) {
                return;
            }
        }
    }

    /// Waits until a row must be written or the files must be checked. Shortly after a commit,
    /// changes that are not urgent do not wake the thread. The next commit writes them, or the
    /// timeout `unhurried_sync`.
    void await_work(std::unique_lock<std::mutex>& lock) {
        sleep_until(lock, unhurried_at, Sleep::until_hurried);
        if (engine.has_work()) return;
        sleep_until(lock, last_look + (file.full() ? look_wait : idle_look_wait),
                    Sleep::until_work);
        if (!engine.has_work()) return;
        unhurried_at = std::chrono::steady_clock::now() + unhurried_sync;
        sleep_until(lock, unhurried_at, Sleep::until_hurried);
    }

    /// Whether a row must be written now. Changes that are not urgent wait until `unhurried_at`,
    /// even if the thread was woken for another reason.
    [[nodiscard]] bool due() const {
        return engine.has_work() &&
               (stopping || engine.hurried() || std::chrono::steady_clock::now() >= unhurried_at);
    }

    void sleep_until(std::unique_lock<std::mutex>& lock,
                     std::chrono::steady_clock::time_point until, Sleep what) {
        sleep = what;
        changed.wait_until(lock, until, [&] {
            return stopping || engine.failing() || engine.hurried() ||
                   (what == Sleep::until_work && engine.has_work());
        });
        sleep = Sleep::none;
    }

    void commit(std::unique_lock<std::mutex>& lock) {
        const auto row = close_row();
        if (!row) return;
        lock.unlock();
        const auto written = file.append(row->changes, row->needed, row->needs_compaction);
        lock.lock();
        space_to_release = true;
        unhurried_at = std::chrono::steady_clock::now() + unhurried_sync;
        conclude(lock, *row, written);
    }

    std::optional<JournalWriter::Row> close_row() {
        auto row = if_memory([this] { return engine.close_row(); });
        if (!row) engine.out_of_memory();
        return row;
    }

    /// Returns the result of `work`. Nothing if memory is exhausted. The caller must then try again
    /// later.
    template <class Work>
    static std::optional<std::invoke_result_t<Work>> if_memory(Work work) {
        try {
            return work();
        } catch (const std::bad_alloc&) {
            return std::nullopt;
        }
    }

    void conclude(std::unique_lock<std::mutex>& lock, const JournalWriter::Row& row,
                  const Result<void>& written) {
        if (!written) probe_wait = probe_wait_min;
        send(lock, written ? engine.committed(row) : engine.failed(row, written.error()));
    }

    void send(std::unique_lock<std::mutex>& lock, std::vector<PendingReply> replies) {
        const auto woken = engine.take_woken();
        if (replies.empty() && woken.empty()) return;
        lock.unlock();
        watchers.wake(woken);
        for (auto& reply : replies) reply.send();
        process.require_at_return();
        replies.clear();
        lock.lock();
        engine.reuse(std::move(replies));
    }

    /// Periodic check of the files, of the disk and of backup requests. False if the files were
    /// moved or removed, because new writes would be lost.
    bool look(std::unique_lock<std::mutex>& lock) {
        const auto now = std::chrono::steady_clock::now();
        if (now < last_look + look_wait) return true;
        last_look = now;
        lock.unlock();
        const auto there = if_memory([&] {
            auto found = file.look_for_files();
            if (found && file.full()) (void)file.take_reserve(space_later);
            if (found) requests.look();
            return found;
        });
        lock.lock();
        if (there && !*there) {
            if (const auto row = close_row()) conclude(lock, *row, *there);
            return false;
        }
        log_whether_full();
        return true;
    }

    void log_whether_full() {
        if (!file.full()) return engine.run_full(std::nullopt);
        engine.run_full(file.reserve_bytes() / 8);
    }

    /// Returns unused file space to the disk while the store is idle. After an error, tries again
    /// only after the next commit.
    void shrink(std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const auto more = if_memory([this] { return file.shrink(); });
        lock.lock();
        space_to_release = more && *more && **more;
    }

    void try_to_heal(std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const auto probed = if_memory([this] {
            auto taken = file.probe();
            if (taken && file.full()) (void)file.take_reserve(space_at_once);
            return taken;
        });
        lock.lock();
        if (!probed || !if_memory([&] { return engine.heal(*probed); }).value_or(false)) {
            probe_wait = std::min(2 * probe_wait, probe_wait_max);
            return;
        }
        probe_wait = probe_wait_min;
        log_whether_full();
        lock.unlock();
        watchers.wake_all();
        lock.lock();
    }

    detail::Watchers watchers;
    JournalFile file;  // Written by the committing thread only, without the lock.
    std::mutex backing_up;
    embedded::BackupRequests requests;

    std::mutex mutex;  // Guards the members below.
    std::condition_variable changed;
    Engine engine;
    std::chrono::milliseconds probe_wait{probe_wait_min};
    std::chrono::steady_clock::time_point last_look{};
    std::chrono::steady_clock::time_point unhurried_at{};
    Sleep sleep = Sleep::none;
    bool space_to_release = false;
    bool stopping = false;
    std::thread committer;
};

EmbeddedStore::EmbeddedStore(const std::filesystem::path& file, EmbeddedStoreOptions options)
    : impl_{std::make_unique<Impl>(file, std::move(options))} {}

EmbeddedStore::~EmbeddedStore() { detail::leave_to_parent(impl_); }

void EmbeddedStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    if (!impl_->process.is_this()) {
        return detail::refuse(steps, done, impl_->process.refusal());
    }
    impl_->submit(steps, now, std::move(done));
}

Result<EmbeddedBackup> EmbeddedStore::backup(const std::filesystem::path& target) {
    if (!impl_->process.is_this()) return impl_->process.refusal();
    return impl_->backup(target);
}

Watch EmbeddedStore::watch(const std::string& queue, std::function<void()> wake) {
    return detail::own(impl_).watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
