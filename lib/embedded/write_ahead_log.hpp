/// @file
/// `WriteAheadLog`: looks behind the end that SQLite finds in its log.

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace routemaster::embedded {

/// The log beside a database: `FILE-wal`, as https://sqlite.org/fileformat2.html#walformat
/// describes it.
///
///     header │ frame │ frame, commit │ frame │ frame │ frame, commit │ mark
///
/// SQLite takes a frame whose checksum is wrong for the end of the log. That is right for a commit
/// that was under way when the process or the machine stopped, and wrong for damage: acknowledged
/// commits behind it would be lost silently. The bytes behind such an end decide which it is. Each
/// commit is synced before the next begins, so only the last can be incomplete:
///
/// - a frame that continues from a commit proves that this commit was on disk;
/// - so does the mark that is left behind each commit once it is (`acknowledged_mark`);
/// - a row with a number beyond the one that follows the last proves that one is missing.
///
/// Frames of commits that failed stay behind the end until they are overwritten, and prove nothing:
/// nothing continues from them. Frames of a log before this one carry other salts.
///
/// Not thread safe. No process may write the log meanwhile.
class WriteAheadLog {
public:
    static constexpr std::size_t header_bytes = 32;
    static constexpr std::size_t frame_header_bytes = 24;
    static constexpr std::size_t mark_bytes = 56;

    using FrameHeader = std::array<char, frame_header_bytes>;
    using Mark = std::array<char, mark_bytes>;

    /// The mark left behind the last frame of a commit, whose header is `commit`, once it is
    /// synced. SQLite takes it for the end of the log, and overwrites it with the next frame.
    /// Allocates nothing: SQLite calls this, and no exception may pass through it.
    [[nodiscard]] static Mark acknowledged_mark(const FrameHeader& commit);

    [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& database);

    /// Whether there is a log large enough for a commit, as every log that was ever written is.
    [[nodiscard]] static bool present(const std::filesystem::path& database);

    /// Reads the log of `database` as far as SQLite would. There may be none.
    explicit WriteAheadLog(const std::filesystem::path& database);

    /// Why an acknowledged row is missing from what SQLite finds, whose newest row is `last_row`;
    /// nothing when there is no such sign.
    [[nodiscard]] std::optional<std::string> damage(std::uint64_t last_row);

private:
    /// SQLite's checksum.
    struct Sum {
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        bool operator==(const Sum&) const = default;
    };

    /// The bytes of a frame, valid or not.
    struct Frame {
        std::string bytes;

        [[nodiscard]] std::uint32_t page() const;
        /// Pages of the database after the commit that this frame ends; else 0.
        [[nodiscard]] std::uint32_t pages() const;
        [[nodiscard]] std::string_view salts() const;
        [[nodiscard]] Sum sum() const;
        [[nodiscard]] std::string_view content() const;
        /// The newest row of the journal on the page, if it has rows of a table; else 0.
        [[nodiscard]] std::uint64_t newest_row() const;
    };

    /// The sums that the frame behind this one may continue from.
    struct Before {
        Sum stored;
        Sum computed;  // Differs if the stored sum was damaged.
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
    std::uint64_t frames_ = 0;  // Complete ones, valid or not.
    std::uint64_t end_ = 0;     // The last commit that SQLite finds, by its frame.
    Before at_end_;
    std::uint64_t acknowledged_ = 0;  // The last commit known to be acknowledged.
    std::uint64_t last_row_ = 0;
};

}  // namespace routemaster::embedded
