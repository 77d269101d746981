#include "http_server_chunks.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace routemaster::detail {
namespace {

constexpr std::size_t size_line_max = 256;

}  // namespace

ChunkReader::Progress ChunkReader::read(std::string_view bytes, std::size_t& consumed,
                                        std::string_view& data) {
    consumed = 0;
    data = {};
    switch (part_) {
        case Part::size: return read_size(bytes, consumed);
        case Part::data_end: return read_data_end(bytes, consumed);
        case Part::trailers: return read_trailer(bytes, consumed);
        case Part::data: break;
    }
    data = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    consumed = data.size();
    left_ -= consumed;
    if (left_ == 0) part_ = Part::data_end;
    return Progress::incomplete;
}

ChunkReader::Progress ChunkReader::read_size(std::string_view bytes, std::size_t& consumed) {
    const auto end = bytes.substr(0, size_line_max).find('\n');
    if (end == std::string_view::npos) {
        return bytes.size() < size_line_max ? Progress::incomplete
                                            : refuse(400, "the size of a chunk is too long");
    }
    const auto* const first = bytes.data();
    const auto* const last = first + end - 1;
    if (end < 2 || *last != '\r') return refuse(400, "the size of a chunk is malformed");
    const auto [stopped, error] = std::from_chars(first, last, left_, 16);
    if (error == std::errc::result_out_of_range) return refuse(413, "a chunk is too large");
    // After the digits, only a chunk extension is allowed.
    const bool sane = error == std::errc{} && (stopped == last || *stopped == ';') &&
                      syntax::all({stopped, last}, syntax::value);
    if (!sane) return refuse(400, "the size of a chunk is malformed");
    consumed = end + 1;
    part_ = left_ == 0 ? Part::trailers : Part::data;
    return Progress::incomplete;
}

ChunkReader::Progress ChunkReader::read_data_end(std::string_view bytes, std::size_t& consumed) {
    constexpr std::string_view line_end = "\r\n";
    if (!line_end.starts_with(bytes.substr(0, line_end.size()))) {
        return refuse(400, "a chunk does not end where its size says");
    }
    if (bytes.size() < line_end.size()) return Progress::incomplete;
    consumed = line_end.size();
    part_ = Part::size;
    return Progress::incomplete;
}

ChunkReader::Progress ChunkReader::read_trailer(std::string_view bytes, std::size_t& consumed) {
    const auto end = bytes.find('\n');
    const auto length = end == std::string_view::npos ? bytes.size() : end + 1;
    if (trailers_size_ + length > head_size_max) return refuse(431, "the trailers are too large");
    if (end == std::string_view::npos) return Progress::incomplete;
    consumed = length;
    trailers_size_ += length;
    Field field;
    if (end == 0 || bytes[end - 1] != '\r') {
        return refuse(400, "a line of the trailers does not end with CR LF");
    }
    if (end == 1) return Progress::complete;
    if (!Field::parse(bytes.substr(0, end - 1), field)) {
        return refuse(400, "a trailer field is malformed");
    }
    return Progress::incomplete;
}

ChunkReader::Progress ChunkReader::refuse(int status, const char* text) noexcept {
    refusal_ = {status, text};
    return Progress::refused;
}

}  // namespace routemaster::detail
