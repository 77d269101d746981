/// @file
/// `WriteAheadLog`: detects lost commits in SQLite's write-ahead log.

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace routemaster::embedded {

/// Parser of SQLite's write-ahead log, the file `FILE-wal` beside a database (format:
/// https://sqlite.org/fileformat2.html#walformat).
///
///     header │ frame │ frame, commit │ frame │ frame │ frame, commit │ mark
///
/// SQLite stops reading the log at the first frame with a wrong checksum. This is normal after a
/// crash during a commit. If the log is damaged, however, acknowledged commits behind this frame
/// are lost silently. This class reads the bytes behind the frame to distinguish the two cases.
/// Each commit is synced before the next commit begins, so only the last commit can be incomplete.
/// Three facts are evidence of damage:
///
/// - A frame continues the checksum of a commit. The commit was then on disk.
/// - A commit has a mark behind it (`acknowledged_mark`). The mark is written after the sync.
/// - A frame has a row with a number greater than the last row's number plus 1. A row is missing.
///
/// Frames of failed commits remain in the file until SQLite overwrites them. They are no evidence,
/// because no later frame continues their checksums. Frames of an earlier log have different salts.
///
/// Not thread safe. No process may write the log meanwhile.
class WriteAheadLog {
public:
    static constexpr std::size_t header_bytes = 32;
    static constexpr std::size_t frame_header_bytes = 24;
    static constexpr std::size_t mark_bytes = 56;

    using FrameHeader = std::array<char, frame_header_bytes>;
    using Mark = std::array<char, mark_bytes>;

    /// The mark that is written behind the last frame of a commit after the commit is synced.
    /// `commit` is the header of this frame. SQLite takes the mark for the end of the log, and
    /// overwrites it with the next frame. Allocates no memory, because SQLite calls this function
    /// and no exception may pass through SQLite.
    [[nodiscard]] static Mark acknowledged_mark(const FrameHeader& commit);

    [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& database);

    /// Whether a log exists that is large enough for a commit. A smaller log never contained a
    /// commit.
    [[nodiscard]] static bool present(const std::filesystem::path& database);

    /// Reads the log of `database` up to the end that SQLite finds. The log may be missing.
    explicit WriteAheadLog(const std::filesystem::path& database);

    /// Describes the damage if acknowledged rows are missing. `last_row` is the newest row that
    /// SQLite finds. Nothing without evidence of damage.
    [[nodiscard]] std::optional<std::string> damage(std::uint64_t last_row);

private:
    struct Sum {
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        bool operator==(const Sum&) const = default;
    };

    struct Frame {
        std::string bytes;

        [[nodiscard]] std::uint32_t page() const;
        /// If this frame ends a commit, the size of the database in pages after the commit; else 0.
        [[nodiscard]] std::uint32_t pages() const;
        [[nodiscard]] std::string_view salts() const;
        [[nodiscard]] Sum sum() const;
        [[nodiscard]] std::string_view content() const;
        /// The newest row of the journal on the page, if the page has rows of a table; else 0.
        [[nodiscard]] std::uint64_t newest_row() const;
    };

    /// The checksums from which the next frame may continue.
    struct Before {
        Sum stored;
        Sum computed;  // Differs from `stored` after damage.
        bool commits = false;
    };

    void read_header();
    void find_end();
    void look_behind_end();
    [[nodiscard]] bool marked_behind(std::uint64_t frame);
    [[nodiscard]] std::uint64_t place(std::uint64_t frame) const;
    [[nodiscard]] std::string read(std::uint64_t place, std::size_t size);
    [[nodiscard]] Frame frame(std::uint64_t number);
    [[nodiscard]] bool belongs(const Frame& frame) const;
    [[nodiscard]] bool continues(const Frame& frame, const Before& before) const;
    [[nodiscard]] Sum sum_after(Sum before, const Frame& frame) const;
    [[nodiscard]] Sum sum_after(Sum before, std::string_view bytes) const;

    std::ifstream file_;
    std::uint64_t size_;
    bool header_valid_ = false;
    bool big_endian_ = false;
    std::size_t page_size_ = 0;
    std::string salts_;
    Sum start_;
    std::uint64_t frames_ = 0;  // Number of complete frames, valid or not.
    std::uint64_t end_ = 0;     // Number of the last frame of the last commit that SQLite finds.
    Before at_end_;
    std::uint64_t acknowledged_ = 0;  // Number of the last frame of the last acknowledged commit.
    std::uint64_t last_row_ = 0;
};

}  // namespace routemaster::embedded
