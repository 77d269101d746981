#include "core/schedule/zone_file.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace routemaster::detail {
namespace {

constexpr std::size_t header_bytes = 44;
constexpr std::size_t type_bytes = 6;

/// No zone was or will be further from UTC (RFC 9636, 3.2).
constexpr std::int64_t offset_max = 26 * 3'600;

std::int64_t number(std::string_view bytes) {
    auto value = static_cast<std::uint64_t>(static_cast<signed char>(bytes.front()));
    for (const char byte : bytes.substr(1)) value = value << 8U | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(value);
}

struct Counts {
    std::size_t utc_indicators, standard_indicators, leap_seconds, steps, types, name_bytes;

    [[nodiscard]] std::size_t bytes(std::size_t time_bytes) const {
        return steps * (time_bytes + 1) + types * type_bytes + name_bytes +
               leap_seconds * (time_bytes + 4) + standard_indicators + utc_indicators;
    }
};

}  // namespace

class ZoneFile::Parser {
public:
    explicit Parser(std::string_view bytes) : rest_{bytes} {}

    std::optional<ZoneFile> file() {
        const bool has_long_times = rest_.size() >= header_bytes && rest_[4] >= '2';
        auto counts = header();
        if (!has_long_times) {
            if (!counts || !read_block(*counts, 4)) return std::nullopt;
            return std::move(file_);
        }
        if (!counts || rest_.size() < counts->bytes(4)) return std::nullopt;
        rest_.remove_prefix(counts->bytes(4));
        counts = header();
        if (!counts || !read_block(*counts, 8) || !read_footer()) return std::nullopt;
        return std::move(file_);
    }

private:
    std::optional<Counts> header() {
        if (rest_.size() < header_bytes || !is(rest_)) return std::nullopt;
        // A count too great for the file is not rejected here. It fails when the size of the block
        // is checked.
        const auto count = [this](std::size_t index) {
            return static_cast<std::size_t>(
                static_cast<std::uint32_t>(number(rest_.substr(20 + index * 4, 4))));
        };
        const Counts counts{count(0), count(1), count(2), count(3), count(4), count(5)};
        rest_.remove_prefix(header_bytes);
        return counts;
    }

    bool read_block(const Counts& counts, std::size_t time_bytes) {
        if (rest_.size() < counts.bytes(time_bytes)) return false;
        if (counts.types == 0 || counts.leap_seconds != 0) return false;
        const auto times = rest_.substr(0, counts.steps * time_bytes);
        const auto indices = rest_.substr(times.size(), counts.steps);
        const auto types = rest_.substr(times.size() + indices.size());
        const auto offset_of = [types](std::size_t type) {
            return number(types.substr(type * type_bytes, 4));
        };
        for (std::size_t type = 0; type < counts.types; ++type) {
            if (offset_of(type) < -offset_max || offset_of(type) > offset_max) return false;
        }
        file_.first_offset_ = offset_of(0);
        for (std::size_t i = 0; i < counts.steps; ++i) {
            const auto at = number(times.substr(i * time_bytes, time_bytes));
            const auto type = static_cast<unsigned char>(indices[i]);
            if (type >= counts.types) return false;
            if (!add_step({at, offset_of(type)})) return false;
        }
        rest_.remove_prefix(counts.bytes(time_bytes));
        return true;
    }

    /// Appends a change of the offset. False when it is not later than the previous change.
    bool add_step(const ZoneStep& step) {
        auto& steps = file_.steps_;
        if (file_.listed_until_ && step.at <= *file_.listed_until_) return false;
        file_.listed_until_ = step.at;
        const auto offset = steps.empty() ? file_.first_offset_ : steps.back().offset;
        if (step.offset != offset) steps.push_back(step);
        return true;
    }

    /// Parses the footer: a line with the rule, or an empty line without a rule.
    bool read_footer() {
        if (!rest_.starts_with('\n')) return false;
        rest_.remove_prefix(1);
        const auto end = rest_.find('\n');
        if (end == std::string_view::npos) return false;
        if (end == 0) return true;
        file_.rule_ = ZoneRule::parse(rest_.substr(0, end));
        return file_.rule_.has_value();
    }

    std::string_view rest_;
    ZoneFile file_;
};

std::optional<ZoneFile> ZoneFile::parse(std::string_view bytes) { return Parser{bytes}.file(); }

ZonePeriod ZoneFile::at(UnixSeconds instant) const {
    const auto next =
        std::upper_bound(steps_.begin(), steps_.end(), instant,
                         [](UnixSeconds at, const ZoneStep& step) { return at < step.at; });
    ZonePeriod period{.offset = first_offset_};
    if (next != steps_.end()) period.end = next->at;
    if (next != steps_.begin()) {
        period.begin = std::prev(next)->at;
        period.offset = std::prev(next)->offset;
    }
    if (!rule_) return period;
    if (listed_until_ && instant < *listed_until_) {
        period.end = std::min(period.end, *listed_until_);
        return period;
    }
    auto by_rule = rule_->at(instant);
    if (listed_until_ && by_rule.begin <= *listed_until_) {
        by_rule.begin = by_rule.offset == period.offset ? period.begin : *listed_until_;
    }
    return by_rule;
}

}  // namespace routemaster::detail
