/// @file
/// A process is killed while it writes SQLite's log, which restarts from time to time. Then the log
/// is damaged.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t pushers = 3;

/// The number of acknowledged jobs of each pusher, in memory that outlives the process.
class Acknowledged {
public:
    Acknowledged()
        : counts_{new (::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counts{}} {}
    Acknowledged(const Acknowledged&) = delete;
    Acknowledged& operator=(const Acknowledged&) = delete;
    ~Acknowledged() { ::munmap(counts_, sizeof(Counts)); }

    std::atomic<std::uint64_t>& of(std::size_t pusher) { return (*counts_)[pusher]; }
    [[nodiscard]] std::uint64_t all() const {
        std::uint64_t sum = 0;
        for (const auto& count : *counts_) sum += count;
        return sum;
    }

private:
    using Counts = std::array<std::atomic<std::uint64_t>, pushers>;
    Counts* counts_;
};

/// Pushes jobs of all sizes at full speed.
[[noreturn]] void push_until_killed(const fs::path& file, Acknowledged& acknowledged) noexcept {
    EmbeddedStore store{file};
    std::vector<std::thread> threads;
    for (std::size_t who = 0; who < pushers; ++who) {
        threads.emplace_back([&, who] {
            Random random{who};
            for (std::uint64_t number = 1;; ++number) {
                auto job = std::to_string(who) + ":" + std::to_string(number);
                job.resize(job.size() + random.below(number % 4 == 0 ? 100'000 : 1'000), '.');
                if (!perform(store, PushJob{"work", std::move(job), TimePoint{}}, TimePoint{})) {
                    std::abort();
                }
                acknowledged.of(who) = number;
            }
        });
    }
    while (true) ::pause();
}

void push_and_die(const fs::path& file, std::chrono::milliseconds lifetime,
                  Acknowledged& acknowledged) {
    const pid_t victim = ::fork();
    if (victim == 0) push_until_killed(file, acknowledged);
    std::this_thread::sleep_for(lifetime);
    ::kill(victim, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(victim, &status, 0) == victim);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
}

/// The number of jobs in a file; nothing when the file is refused as damaged.
std::optional<std::uint64_t> jobs_in(const fs::path& file) {
    try {
        EmbeddedStore store{file};
        return perform(store, CountJobs{"work"}, TimePoint{}).value().ready;
    } catch (const Failure& failure) {
        CHECK(failure.error().code() == Errc::corrupted);
        return std::nullopt;
    }
}

void copy_all(const fs::path& from, const fs::path& to) {
    for (const char* suffix : {"", "-wal"}) {
        const auto options = fs::copy_options::overwrite_existing;
        fs::copy_file(from.string() + suffix, to.string() + suffix, options);
    }
}

int byte_of(const fs::path& file, std::uint64_t place) {
    std::ifstream stream{file, std::ios::binary};
    stream.seekg(static_cast<std::streamoff>(place));
    return stream.get();
}

void change_bit(const fs::path& file, std::uint64_t place, unsigned bit) {
    std::fstream stream{file, std::ios::binary | std::ios::in | std::ios::out};
    stream.seekg(static_cast<std::streamoff>(place));
    const auto byte = static_cast<char>(stream.get() ^ (1 << bit));
    stream.seekp(static_cast<std::streamoff>(place));
    stream.put(byte);
}

}  // namespace

TEST_CASE("a process killed at any moment leaves no damage, and a changed bit is detected") {
    const auto number = seed(17);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    bool began_anew = false;
    int refused = 0;
    for (int round = 0; round < 25; ++round) {
        CAPTURE(round);
        const TemporaryFolder folder;
        const auto file = folder.path() / "bus.db";
        const auto damaged = folder.path() / "damaged.db";
        Acknowledged acknowledged;
        // A slow disk needs longer until the log restarts.
        const auto longest = began_anew || round < 20 ? 400U : 5'000U;
        push_and_die(file, std::chrono::milliseconds{10 + random.below(longest)}, acknowledged);
        // The process may have been killed before its first commit.
        std::error_code missing;
        if (const auto size = fs::file_size(file.string() + "-wal", missing);
            missing || size == 0) {
            continue;
        }
        // The header of the log counts its restarts.
        began_anew |= byte_of(file.string() + "-wal", 15) > 1;
        copy_all(file, damaged);
        const auto whole = jobs_in(damaged);
        REQUIRE(whole);
        CHECK(*whole >= acknowledged.all());
        CHECK(*whole <= acknowledged.all() + pushers);
        if (round % 5 != 0) continue;
        for (int changed = 0; changed < 12; ++changed) {
            copy_all(file, damaged);
            const auto log = damaged.string() + "-wal";
            const auto place = random.below(fs::file_size(log));
            CAPTURE(place);
            change_bit(log, place, static_cast<unsigned>(random.below(8)));
            const auto found = jobs_in(damaged);
            if (!found) ++refused;
            CHECK(found.value_or(*whole) >= acknowledged.all());
            fs::remove(log);
        }
    }
    CHECK(began_anew);
    CHECK(refused > 10);
}
