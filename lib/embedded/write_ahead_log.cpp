#include "write_ahead_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <system_error>

#include <libdeflate.h>

namespace routemaster::embedded {
namespace {

constexpr std::uint32_t magic = 0x377f0682;  // The lowest bit is the checksums' byte order.
constexpr std::uint32_t log_version = 3'007'000;
constexpr std::size_t sum_bytes = 8;
constexpr std::size_t summed_header_bytes = 24;
constexpr std::size_t summed_frame_bytes = 8;
constexpr std::size_t page_size_min = 512;
constexpr std::size_t page_size_max = 65'536;

/// The text of a mark. It begins with 0 where a frame has its page number, because SQLite never
/// writes page number 0.
constexpr std::string_view mark_text{"\0\0\0\0routemaster acknowledged", 28};

std::uint64_t size_of(const std::filesystem::path& file) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(file, missing);
    return missing ? 0 : size;
}

unsigned char byte(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

std::uint32_t number(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | byte(bytes, at + i);
    return value;
}

void append(std::string& bytes, std::uint32_t value) {
    for (unsigned shift = 32; shift > 0; shift -= 8) {
        bytes.push_back(static_cast<char>(value >> (shift - 8)));
    }
}

std::string checksum(std::string_view bytes) {
    std::string sum;
    append(sum, libdeflate_crc32(0, bytes.data(), bytes.size()));
    return sum;
}

/// Reads SQLite's variable-length number; 0 if the bytes end early.
std::uint64_t variable_number(std::string_view bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (int i = 0; i < 9 && at < bytes.size(); ++i) {
        const auto next = byte(bytes, at++);
        if (i == 8) return value << 8U | next;
        value = value << 7U | (next & 0x7fU);
        if (next < 0x80) return value;
    }
    return 0;
}

}  // namespace

// --- Frames -------------------------------------------------------------------------------------

std::uint32_t WriteAheadLog::Frame::page() const { return number(bytes, 0); }
std::uint32_t WriteAheadLog::Frame::pages() const { return number(bytes, 4); }
std::string_view WriteAheadLog::Frame::salts() const {
    return std::string_view{bytes}.substr(8, sum_bytes);
}
WriteAheadLog::Sum WriteAheadLog::Frame::sum() const {
    return {number(bytes, 16), number(bytes, 20)};
}
std::string_view WriteAheadLog::Frame::content() const {
    return std::string_view{bytes}.substr(frame_header_bytes);
}

/// Reads the last cell of a table leaf page (https://sqlite.org/fileformat2.html#b_tree_pages).
/// Page 1 has another layout and never contains rows of the journal.
std::uint64_t WriteAheadLog::Frame::newest_row() const {
    constexpr unsigned char leaf_of_table = 0x0d;
    constexpr std::size_t leaf_header_bytes = 8;
    const auto content = this->content();
    if (page() == 1 || byte(content, 0) != leaf_of_table) return 0;
    const std::size_t cells = byte(content, 3) * 256U + byte(content, 4);
    const auto pointer = leaf_header_bytes + 2 * cells - 2;
    if (cells == 0 || pointer + 2 > content.size()) return 0;
    std::size_t cell = byte(content, pointer) * 256U + byte(content, pointer + 1);
    (void)variable_number(content, cell);  // Skips the length of the row.
    return variable_number(content, cell);
}

// --- Marks --------------------------------------------------------------------------------------

WriteAheadLog::Mark WriteAheadLog::acknowledged_mark(const FrameHeader& commit) {
    Mark mark{};
    auto end = std::copy(mark_text.begin(), mark_text.end(), mark.begin());
    end = std::copy(commit.begin(), commit.end(), end);
    const auto sum = checksum({mark.data(), static_cast<std::size_t>(end - mark.begin())});
    std::copy(sum.begin(), sum.end(), end);
    return mark;
}

bool WriteAheadLog::marked_behind(std::uint64_t frame) {
    if (place(frame + 1) + mark_bytes > size_) return false;
    const auto bytes = read(place(frame + 1), mark_bytes);
    if (!bytes.starts_with(mark_text)) return false;
    const auto end = bytes.size() - 4;
    if (bytes.substr(end) != checksum(std::string_view{bytes}.substr(0, end))) return false;
    return bytes.substr(mark_text.size() + 8, salts_.size()) == salts_;
}

// --- Reading ------------------------------------------------------------------------------------

std::filesystem::path WriteAheadLog::path_of(const std::filesystem::path& database) {
    return database.string() + "-wal";
}

bool WriteAheadLog::present(const std::filesystem::path& database) {
    return size_of(path_of(database)) >= header_bytes + frame_header_bytes + page_size_min;
}

WriteAheadLog::WriteAheadLog(const std::filesystem::path& database)
    : file_{path_of(database), std::ios::binary}, size_{size_of(path_of(database))} {
    if (size_ >= header_bytes) read_header();
    if (header_valid_) find_end();
}

void WriteAheadLog::read_header() {
    const auto header = read(0, header_bytes);
    big_endian_ = (number(header, 0) & 1U) != 0;
    page_size_ = number(header, 8);
    salts_ = header.substr(16, 8);
    start_ = sum_after(Sum{}, header.substr(0, summed_header_bytes));
    header_valid_ = (number(header, 0) & ~1U) == magic && number(header, 4) == log_version &&
                    start_ == Sum{number(header, 24), number(header, 28)} &&
                    page_size_ >= page_size_min && page_size_ <= page_size_max;
    if (header_valid_) frames_ = (size_ - header_bytes) / (frame_header_bytes + page_size_);
}

void WriteAheadLog::find_end() {
    Before before{start_, start_};
    at_end_ = before;
    for (std::uint64_t i = 1; i <= frames_; ++i) {
        const auto next = frame(i);
        if (!belongs(next) || !continues(next, before)) return;
        before = {next.sum(), next.sum(), next.pages() != 0};
        if (!before.commits) continue;
        end_ = i;
        at_end_ = before;
    }
}

void WriteAheadLog::look_behind_end() {
    acknowledged_ = end_;
    auto before = at_end_;
    auto last_commit = end_;
    for (auto i = end_ + 1; i <= frames_ + 1; ++i) {
        if (marked_behind(i - 1)) acknowledged_ = i - 1;
        if (i > frames_) break;
        const auto next = frame(i);
        const bool sound = belongs(next) && continues(next, before);
        if (sound && before.commits && i - 1 > end_) acknowledged_ = i - 1;
        if (sound && next.newest_row() > last_row_ + 1) {
            acknowledged_ = std::max(acknowledged_, last_commit == end_ ? i - 1 : last_commit);
        }
        if (belongs(next) && next.pages() != 0) last_commit = i;
        // Tries both sums, because either sum may be damaged. After a damaged frame, the stored sum
        // is correct. After a damaged sum, the computed sum is correct.
        const auto from =
            sum_after(before.computed, next) == next.sum() ? before.computed : before.stored;
        before = {next.sum(), sum_after(from, next), next.pages() != 0};
    }
}

std::optional<std::string> WriteAheadLog::damage(std::uint64_t last_row) {
    last_row_ = last_row;
    if (!header_valid_) {
        if (size_ <= header_bytes) return std::nullopt;
        return "its write-ahead log is damaged at the beginning";
    }
    look_behind_end();
    if (acknowledged_ == end_) return std::nullopt;
    return "its write-ahead log is damaged behind byte " + std::to_string(place(end_ + 1)) +
           ", and continues after the damage";
}

std::uint64_t WriteAheadLog::place(std::uint64_t frame) const {
    return header_bytes + (frame - 1) * (frame_header_bytes + page_size_);
}

/// Unreadable bytes are returned as zeros, which are never a valid frame.
std::string WriteAheadLog::read(std::uint64_t place, std::size_t size) {
    std::string bytes(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(place));
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
}

WriteAheadLog::Frame WriteAheadLog::frame(std::uint64_t number) {
    return {read(place(number), frame_header_bytes + page_size_)};
}

bool WriteAheadLog::belongs(const Frame& frame) const {
    return frame.page() != 0 && frame.salts() == salts_;
}

bool WriteAheadLog::continues(const Frame& frame, const Before& before) const {
    const auto sum = frame.sum();
    return sum_after(before.stored, frame) == sum ||
           (before.computed != before.stored && sum_after(before.computed, frame) == sum);
}

WriteAheadLog::Sum WriteAheadLog::sum_after(Sum before, const Frame& frame) const {
    const std::string_view bytes{frame.bytes};
    return sum_after(sum_after(before, bytes.substr(0, summed_frame_bytes)), frame.content());
}

/// SQLite's checksum is a sum over pairs of 32-bit words.
WriteAheadLog::Sum WriteAheadLog::sum_after(Sum sum, std::string_view bytes) const {
    const bool swapped = big_endian_ != (std::endian::native == std::endian::big);
    for (std::size_t at = 0; at + sum_bytes <= bytes.size(); at += sum_bytes) {
        std::array<std::uint32_t, 2> words{};
        std::memcpy(words.data(), bytes.data() + at, sizeof words);
        if (swapped) {
            for (auto& word : words) word = __builtin_bswap32(word);
        }
        sum.first += words[0] + sum.second;
        sum.second += words[1] + sum.first;
    }
    return sum;
}

}  // namespace routemaster::embedded
