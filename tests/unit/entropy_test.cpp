#include "routemaster/entropy.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <set>

using namespace routemaster;

namespace {

/// More numbers than a thread has in reserve.
using Numbers = std::array<std::uint64_t, 100>;

Numbers drawn() {
    Numbers numbers{};
    for (auto& number : numbers) number = entropy();
    return numbers;
}

/// The first numbers of a child process.
Numbers drawn_by_child() {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const auto numbers = drawn();
        const bool written = write(pipe_ends[1], numbers.data(), sizeof numbers) == sizeof numbers;
        _exit(written ? 0 : 1);
    }
    Numbers numbers{};
    REQUIRE(read(pipe_ends[0], numbers.data(), sizeof numbers) == sizeof numbers);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    for (const int end : pipe_ends) close(end);
    return numbers;
}

}  // namespace

TEST_CASE("random numbers never repeat, even in forked children") {
    std::set<std::uint64_t> seen;
    const auto see = [&seen](const Numbers& numbers) {
        seen.insert(numbers.begin(), numbers.end());
    };
    see(drawn());
    seen.insert(entropy());
    see(drawn_by_child());
    see(drawn_by_child());
    see(drawn());
    CHECK(seen.size() == 4 * Numbers{}.size() + 1);
}
