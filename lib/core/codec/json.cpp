#include "routemaster/codec/json.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/codec/json_parser.hpp"
#include "core/codec/value_builder.hpp"

namespace routemaster {
namespace {

/// Input iterator over a text that records how far the parser has read.
class TrackedIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    TrackedIterator(const char* at, const char** reached) noexcept : at_{at}, reached_{reached} {}
    const char& operator*() const noexcept { return *at_; }
    TrackedIterator& operator++() noexcept {
        *reached_ = ++at_;
        return *this;
    }
    friend bool operator==(TrackedIterator a, TrackedIterator b) noexcept { return a.at_ == b.at_; }

private:
    const char* at_;
    const char** reached_;
};

/// Adapter between nlohmann's parser and `ValueBuilder`. It stores the reason when parsing stops.
class JsonVisitor {
public:
    explicit JsonVisitor(std::size_t depth_max) noexcept : depth_max_{depth_max} {}

    bool null() { return builder_.null(); }
    bool boolean(bool truth) { return builder_.boolean(truth); }
    bool number_integer(std::int64_t number) { return builder_.integer(number); }
    bool number_unsigned(std::uint64_t number) { return builder_.natural(number); }
    /// The parser also reports integers beyond 64 bits here. As a `double`, an integer would lose
    /// digits, and is therefore rejected.
    bool number_float(double number, const std::string& digits) {
        if (digits.find_first_of(".eE") == std::string::npos) {
            return fail("an integer beyond 64 bits");
        }
        return builder_.real(number);
    }
    bool string(std::string& text) { return builder_.text(std::move(text)); }
    bool binary(nlohmann::json::binary_t&) { return fail("binary data"); }
    bool start_object(std::size_t) { return deeper() && builder_.begin_map(0); }
    bool key(std::string& name) { return builder_.key(std::move(name)); }
    bool end_object() { return shallower() && builder_.end_map(); }
    bool start_array(std::size_t) { return deeper() && builder_.begin_array(0); }
    bool end_array() { return shallower() && builder_.end_array(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        return fail(reason(error.what()));
    }

    [[nodiscard]] Value result() { return builder_.result(); }
    /// The reason for a failure. Quotes nothing of the parsed text, because the text may be secret.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    /// Extracts the reason from nlohmann's error text "[…] parse error at line 1, column 2: syntax
    /// error while parsing value - invalid literal; last read: '…'". Drops the quoted input.
    [[nodiscard]] static std::string reason(std::string_view what) {
        if (what.find("out_of_range") != std::string_view::npos) return "a number out of range";
        const std::size_t column = what.find("column ");
        const std::size_t start = what.find(": ", column == std::string_view::npos ? 0 : column);
        if (start == std::string_view::npos) return "syntax error";
        what.remove_prefix(start + 2);
        return std::string{what.substr(0, what.find(';'))};
    }

    bool fail(std::string problem) {
        problem_ = std::move(problem);
        return false;
    }
    bool deeper() { return ++depth_ <= depth_max_ || fail("nested too deep"); }
    bool shallower() noexcept {
        --depth_;
        return true;
    }

    detail::ValueBuilder builder_;
    std::string problem_;
    const std::size_t depth_max_;
    std::size_t depth_ = 0;
};

}  // namespace

Result<Value> detail::parse_json(std::string_view text, std::size_t depth_max) {
    const auto refuse = [](std::string_view problem, std::size_t byte) -> Result<Value> {
        return Error{Errc::invalid,
                     "JSON: " + std::string{problem} + " at byte " + std::to_string(byte)};
    };
    // Both are rejected here, because nlohmann's parser would accept them: it skips a byte order
    // mark, and it stops at a NUL as if the text ended.
    if (text.starts_with("\xef\xbb\xbf")) return refuse("a byte order mark", 1);
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
        return refuse("a NUL byte", nul + 1);
    }
    const char* reached = text.data();
    JsonVisitor visitor{depth_max};
    const bool parsed =
        nlohmann::json::sax_parse(TrackedIterator{text.data(), &reached},
                                  TrackedIterator{text.data() + text.size(), &reached}, &visitor);
    if (!parsed) {
        return refuse(visitor.problem(), static_cast<std::size_t>(reached - text.data()));
    }
    return visitor.result();
}

Result<Value> parse_json(std::string_view text) { return detail::parse_json(text, json_depth_max); }

}  // namespace routemaster
