/// @file
/// The memory that a store keeps free.

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "routemaster/store/embedded.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;

/// Leaves this process a number of bytes below its limit for data. The limit is above 2 GiB,
/// because a reserve is at most an eighth of the limit.
class LittleMemory {
public:
    explicit LittleMemory(std::uint64_t left)
        : ballast_{::mmap(nullptr, ballast_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
        REQUIRE(ballast_ != MAP_FAILED);
        REQUIRE(::getrlimit(RLIMIT_DATA, &before_) == 0);
        auto limit = before_;
        limit.rlim_cur = data_bytes() + left;
        REQUIRE(::setrlimit(RLIMIT_DATA, &limit) == 0);
    }
    ~LittleMemory() {
        ::setrlimit(RLIMIT_DATA, &before_);
        ::munmap(ballast_, ballast_bytes);
    }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

private:
    static constexpr std::size_t ballast_bytes = 2'048 * mebibyte;

    static std::uint64_t data_bytes() {
        std::ifstream status{"/proc/self/status"};
        std::uint64_t kibibytes = 0;
        for (std::string word; status >> word;) {
            if (word == "VmData:") status >> kibibytes;
        }
        REQUIRE(kibibytes > 0);
        return kibibytes * 1'024;
    }

    void* ballast_;
    rlimit before_{};
};

}  // namespace

TEST_CASE("a store below its memory reserve refuses new data, and delivers existing jobs") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "bus.sqlite";
    const TimePoint now = from_milliseconds(1'000);
    const Uid worker{1, 2};
    // The store looks at its memory after each mebibyte of data.
    const auto push = [&](Store& store, char letter) {
        return perform(store, PushJob{"work", std::string(mebibyte, letter), now}, now);
    };
    {
        EmbeddedStore store{file};
        CHECK(push(store, 'a'));
    }
    const LittleMemory memory{40 * mebibyte};
    {
        EmbeddedStore store{file, {.memory_reserve = 200 * mebibyte}};
        const auto refused = push(store, 'b');
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::unavailable);
        const auto acquired = perform(store, AcquireJobs{"work", worker}, now).value();
        REQUIRE(acquired.leases.size() == 1);
        CHECK(perform(store, AckJob{acquired.leases.front()}, now));
    }
    EmbeddedStore store{file, {.memory_reserve = 10 * mebibyte}};
    CHECK(push(store, 'b'));
}
