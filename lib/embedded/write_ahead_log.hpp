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
/// that was under way when the process or the machine stopped, and wrong for damage: whatever was
/// acknowledged behind it would be lost without a word. What follows such an end tells one from the
/// other. Each commit is synced before the next begins, so none but the last can be incomplete:
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

    /// What is left behind the last frame of a commit, whose header is `commit`, once it is synced.
    /// SQLite takes it for no frame, and overwrites it with the next one. Allocates nothing: SQLite
    /// calls this, and must not meet an exception.
    [[nodiscard]] static Mark acknowledged_mark(const FrameHeader& commit);

    [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& database);

    /// Whether there is a log with space for a commit: any that was ever written has.
    [[nodiscard]] static bool present(const std::filesystem::path& database);

    /// Reads the log of `database` as far as SQLite would. There may be none.
    explicit WriteAheadLog(const std::filesystem::path& database);

    /// Why something acknowledged is not among what SQLite finds, of which `last_row` is the newest
    /// row; nothing when there is no such sign.
    [[nodiscard]] std::optional<std::string> damage(std::uint64_t last_row);

private:
    /// What SQLite calls a checksum.
    struct Sum {
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        bool operator==(const Sum&) const = default;
    };

    /// A frame, which may be anything.
    struct Frame {
        std::string bytes;

        [[nodiscard]] std::uint32_t page() const;
        /// The pages of the database after it, when it ends a commit; else 0.
        [[nodiscard]] std::uint32_t pages() const;
        [[nodiscard]] std::string_view salts() const;
        [[nodiscard]] Sum sum() const;
        [[nodiscard]] std::string_view content() const;
        /// Of the journal, if the page holds rows of a table; else 0.
        [[nodiscard]] std::uint64_t newest_row() const;
    };

    /// The sums that the frame behind this one may continue from.
    struct Before {
        Sum stored;
        Sum computed;  // Another one if it was the sum itself that was damaged.
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
    std::uint64_t frames_ = 0;  // Whole ones, whatever they are.
    std::uint64_t end_ = 0;     // The last commit that SQLite finds, by its frame.
    Before at_end_;
    std::uint64_t acknowledged_ = 0;  // The last commit that is known to be acknowledged.
    std::uint64_t last_row_ = 0;
};

}  // namespace routemaster::embedded
