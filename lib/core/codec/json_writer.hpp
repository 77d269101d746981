/// @file
/// A parser sink that prints JSON.

#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/codec/json_text.hpp"

namespace routemaster::detail {

template <class Integer>
void append_decimal(std::string& out, Integer number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
}

/// Appends the shortest decimal text that parses to exactly this floating-point number. The text
/// always has a fraction or an exponent. Infinities and NaN become `null`.
void append_exact(std::string& out, double number);

class JsonWriter {
public:
    explicit JsonWriter(std::string& out) noexcept : out_{out} {}

    bool null() { return literal("null"); }
    bool boolean(bool truth) { return literal(truth ? "true" : "false"); }
    bool integer(std::int64_t number) {
        separate();
        append_decimal(out_, number);
        return true;
    }
    bool natural(std::uint64_t number) {
        separate();
        append_decimal(out_, number);
        return true;
    }
    bool real(double number) {
        separate();
        append_exact(out_, number);
        return true;
    }
    bool text(std::string_view text) {
        separate();
        append_json_text(out_, text);
        return true;
    }
    bool begin_array(std::size_t) { return begin('['); }
    bool begin_map(std::size_t) { return begin('{'); }
    bool key(std::string_view name) {
        separate();
        append_json_text(out_, name);
        out_.push_back(':');
        return true;
    }
    bool end_array() { return end(']'); }
    bool end_map() { return end('}'); }

    void clear() {
        out_.clear();
        depth_ = 0;
    }

protected:
    /// Appends the comma between two values. After an opening bracket or a colon, no comma is
    /// needed. The last character of the output decides, because every text ends with a quote.
    void separate() {
        if (depth_ == 0) return;
        const char last = out_.back();
        if (last != '[' && last != '{' && last != ':') out_.push_back(',');
    }
    [[nodiscard]] std::string& out() noexcept { return out_; }

private:
    bool literal(std::string_view word) {
        separate();
        out_.append(word);
        return true;
    }
    bool begin(char bracket) {
        separate();
        out_.push_back(bracket);
        ++depth_;
        return true;
    }
    bool end(char bracket) {
        out_.push_back(bracket);
        --depth_;
        return true;
    }

    std::string& out_;
    std::size_t depth_ = 0;
};

}  // namespace routemaster::detail
