/// @file
/// The memory left under the limit of a cgroup.

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/system/memory_headroom.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {
namespace {

constexpr std::uint64_t million = 1'000'000;

/// The files of a process and its cgroups.
class Files {
public:
    explicit Files(const std::string& groups) { write("process/cgroup", groups); }

    void write(const std::string& name, const std::string& text) const {
        const auto file = folder_.path() / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text << '\n';
    }

    [[nodiscard]] detail::MemoryLimits limits() const {
        return detail::MemoryLimits{folder_.path() / "process", folder_.path() / "cgroups"};
    }

private:
    TemporaryFolder folder_;
};

/// The files of a process in a cgroup without a limit, whose parent cgroup has a limit.
struct LimitedFiles : Files {
    LimitedFiles() : Files{"1:name=systemd:/\n0::/outer/inner"} {
        write("cgroups/outer/inner/memory.max", "max");
        write("cgroups/outer/inner/memory.current", "1");
        write("cgroups/outer/memory.max", std::to_string(1'000 * million));
        write("cgroups/outer/memory.current", std::to_string(600 * million));
        write("cgroups/outer/memory.stat",
              "anon 1\nactive_file 100000000\nslab 7\ninactive_file 50000000");
    }
};

}  // namespace

TEST_CASE("the memory limit of an outer cgroup counts, and cached file pages count as free") {
    const LimitedFiles files;
    CHECK(files.limits().lowest() == 1'000 * million);
    CHECK(files.limits().left() == 550 * million);
}

TEST_CASE("memory limits of cgroups version 1 are read, too") {
    const Files files{"7:memory,other:/x\n4:memory:/service"};
    files.write("cgroups/memory/memory.limit_in_bytes", "9223372036854771712");
    files.write("cgroups/memory/service/memory.limit_in_bytes", "500000000");
    files.write("cgroups/memory/service/memory.usage_in_bytes", "100000000");
    files.write("cgroups/memory/service/memory.stat", "cache 5\ninactive_file 20000000");
    CHECK(files.limits().lowest() == 500 * million);
    CHECK(files.limits().left() == 420 * million);
}

TEST_CASE("memory is short below the reserve, until the reserve plus a quarter is free again") {
    const LimitedFiles files;
    const auto use = [&](std::uint64_t millions) {
        files.write("cgroups/outer/memory.current", std::to_string((150 + millions) * million));
    };
    detail::MemoryHeadroom headroom{100 * million, files.limits()};
    const auto is_short = [&] {
        bool any = false;
        for (int i = 0; i < 16; ++i) any = headroom.is_short_for(100'000);
        return any;
    };
    use(890);
    CHECK(!is_short());
    use(910);
    CHECK(is_short());
    use(880);
    CHECK(is_short());
    use(870);
    CHECK(!is_short());
}

TEST_CASE(
    "a large step needs more free memory than the reserve, and without a limit all steps pass") {
    const LimitedFiles files;
    detail::MemoryHeadroom headroom{100 * million, files.limits()};
    CHECK(!headroom.is_short_for(100 * million));
    CHECK(headroom.is_short_for(200 * million));
    const Files none{"0::/outer"};
    detail::MemoryHeadroom unlimited{100 * million, none.limits()};
    CHECK(!unlimited.is_short_for(10'000 * million));
}

}  // namespace routemaster::test
