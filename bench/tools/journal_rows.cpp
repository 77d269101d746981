// Writes records to a disk in groups, for benchmarks. Each group is on disk before the next begins.
//
//   bench_journal_rows --file FILE --kind KIND --record N --group N --seconds N
//
// `journal` is the store's own JournalFile, with one row per group. `raw` writes only the groups,
// with pwrite and fdatasync, into a file whose space was allocated with fallocate. `overwrite`
// repeatedly overwrites a file: then the file system writes no metadata. `segment` imitates an
// append-only file: a length and a checksum before each group, in segments that are allocated in
// turn. The file must not exist. Prints one JSON line.

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "journal_file.hpp"
#include "options.hpp"
#include "run.hpp"

namespace {

using SteadyClock = std::chrono::steady_clock;

struct Settings {
    std::string file;
    std::string kind;
    std::size_t record = 150;  ///< Bytes.
    std::size_t group = 256;   ///< Records.
    double seconds = 1;
};

/// Writes groups of records.
class Sink {
public:
    virtual ~Sink() = default;
    /// Returns when the group is on disk.
    virtual void write(std::string_view group) = 0;
};

/// The journal of the embedded store.
class Journal final : public Sink {
public:
    explicit Journal(const std::string& file) : file_{file} {
        file_.read([](std::uint64_t, std::string_view) { return routemaster::Result<void>{}; })
            .value();
    }
    void write(std::string_view group) override { file_.append(group, 0, false).value(); }

private:
    routemaster::embedded::JournalFile file_;
};

void check(bool succeeded) {
    if (!succeeded) throw std::system_error{errno, std::generic_category()};
}

/// A file written with system calls.
class File {
public:
    explicit File(const std::string& path)
        : descriptor_{open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)} {
        check(descriptor_ >= 0);
    }
    ~File() { close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Allocates space without writing its blocks.
    void reserve(std::size_t bytes) const {
        check(fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0);
    }
    void write(std::span<const iovec> parts, std::size_t bytes, std::size_t at) const {
        const auto written = pwritev(descriptor_, parts.data(), static_cast<int>(parts.size()),
                                     static_cast<off_t>(at));
        check(written >= 0);
        if (static_cast<std::size_t>(written) != bytes) throw std::runtime_error{"written in part"};
    }
    void sync() const { check(fdatasync(descriptor_) == 0); }

private:
    int descriptor_;
};

iovec part(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

/// The size of a file, and of a segment.
constexpr std::size_t segment_bytes = 64U << 20U;

/// Writes only the bytes of the groups. At the end of a file, starts a new file.
class Raw final : public Sink {
public:
    explicit Raw(std::string path) : path_{std::move(path)} { begin(); }

    void write(std::string_view group) override {
        if (at_ + group.size() > segment_bytes) begin();
        const std::array parts{part(group)};
        file_->write(parts, group.size(), at_);
        file_->sync();
        at_ += group.size();
    }

private:
    void begin() {
        file_ = std::make_unique<File>(path_ + "." + std::to_string(files_++));
        file_->reserve(segment_bytes);
        file_->sync();
        at_ = 0;
    }

    std::string path_;
    std::unique_ptr<File> file_;
    std::uint64_t files_ = 0;
    std::size_t at_ = 0;
};

/// Writes only the bytes of the groups, over earlier bytes.
class Overwrite final : public Sink {
public:
    explicit Overwrite(const std::string& path) : file_{path} {
        const std::string zeros(1U << 20U, '\0');
        const std::array parts{part(zeros)};
        for (std::size_t at = 0; at < segment_bytes; at += zeros.size()) {
            file_.write(parts, zeros.size(), at);
        }
        file_.sync();
    }

    void write(std::string_view group) override {
        if (at_ + group.size() > segment_bytes) at_ = 0;
        const std::array parts{part(group)};
        file_.write(parts, group.size(), at_);
        file_.sync();
        at_ += group.size();
    }

private:
    File file_;
    std::size_t at_ = 0;
};

/// An append-only file.
class Segments final : public Sink {
public:
    explicit Segments(std::string path) : file_{std::move(path)} {}

    void write(std::string_view group) override {
        const auto bytes = group.size();
        const auto sum = libdeflate_crc32(static_cast<std::uint32_t>(number_), group.data(), bytes);
        framed_.clear();
        for (const std::uint64_t field : {++number_, std::uint64_t{bytes}, std::uint64_t{sum}}) {
            framed_.append(reinterpret_cast<const char*>(&field), sizeof field);
        }
        file_.write(framed_.append(group));
    }

private:
    Raw file_;
    std::string framed_;
    std::uint64_t number_ = 0;
};

std::unique_ptr<Sink> make(const Settings& settings) {
    if (settings.kind == "journal") return std::make_unique<Journal>(settings.file);
    if (settings.kind == "raw") return std::make_unique<Raw>(settings.file);
    if (settings.kind == "overwrite") return std::make_unique<Overwrite>(settings.file);
    return std::make_unique<Segments>(settings.file);
}

void run(const Settings& settings) {
    const auto sink = make(settings);
    std::string group(settings.record * settings.group, 'x');
    // Warm-up: writes the journal's log once completely. After this its length is constant. A group
    // takes at least one page of the log, and the log restarts before it has 1,500 pages.
    constexpr std::size_t log_bytes = 96U << 20U;
    constexpr std::size_t log_pages = 2'000;
    for (std::size_t n = 0; n < log_pages && n * group.size() < log_bytes; ++n) sink->write(group);
    std::uint64_t groups = 0;
    const auto cpu_before = bench::cpu_seconds();
    const auto begun = SteadyClock::now();
    std::chrono::duration<double> seconds{};
    for (; seconds.count() < settings.seconds; seconds = SteadyClock::now() - begun) {
        // All groups differ, because a disk might recognise repetitions.
        group.replace(0, sizeof groups, reinterpret_cast<const char*>(&groups), sizeof groups);
        sink->write(group);
        ++groups;
    }
    std::cout << R"({"count":)" << groups * settings.group << R"(,"seconds":)" << seconds.count()
              << R"(,"cpu_seconds":)" << bench::cpu_seconds() - cpu_before << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Writes records to a disk in groups", "journal_rows"};
    options.add("--file", settings.file, "Must not exist").required();
    options.add("--kind", settings.kind)
        .required()
        .one_of({"journal", "raw", "overwrite", "segment"});
    options.add("--record", settings.record, "Bytes, at least 8");
    options.add("--group", settings.group, "Records");
    options.add("--seconds", settings.seconds);
    return options.run(argc, argv, [&settings] { run(settings); });
}
