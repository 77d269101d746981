#include "core/codec/batch_callback.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {
namespace {

/// The key of the metadata entry with the id of the batch, and MessagePack's encoding of an empty
/// text.
constexpr std::string_view batch_entry = "batch";
constexpr char empty_text = '\xa0';

std::pair<std::string, std::string> around_id(const JobMetadata& metadata) {
    auto all = metadata;
    all.insert_or_assign(std::string{batch_entry}, std::string{});
    Value::Map map;
    std::size_t behind = 0;
    for (const auto& [name, text] : all) {
        map.emplace_back(name, text);
        if (name > batch_entry) behind += encode(Value{name}).size() + encode(Value{text}).size();
    }
    const auto bytes = encode(Value{std::move(map)});
    const auto end = bytes.size() - behind;
    return {bytes.substr(0, end - 1), bytes.substr(end)};
}

std::optional<JobMetadata> without_id(std::string bytes, std::string_view after) {
    bytes.push_back(empty_text);
    const auto value = decode_value(bytes.append(after));
    const auto* map = value ? value->get_if<Value::Map>() : nullptr;
    if (map == nullptr) return std::nullopt;
    JobMetadata metadata;
    for (const auto& [name, text] : *map) {
        const auto* one = text.get_if<std::string>();
        if (one == nullptr) return std::nullopt;
        if (name != batch_entry) metadata.emplace(name, *one);
    }
    return metadata;
}

}  // namespace

std::string encode_callback(const std::optional<JobBatchCallback>& callback) {
    if (!callback) return {};
    auto [before, after] = around_id(callback->metadata);
    return encode(Value{Value::Array{callback->queue, callback->job, callback->attempts_max,
                                     callback->timeout.count(), callback->priority,
                                     std::move(before), std::move(after)}});
}

Result<std::optional<JobBatchCallback>> decode_callback(std::string_view bytes) {
    if (bytes.empty()) return std::optional<JobBatchCallback>{};
    const Error damaged{Errc::corrupted, "MessagePack: not the callback of a batch"};
    const auto value = decode_value(bytes);
    const auto* parts = value ? value->get_if<Value::Array>() : nullptr;
    if (parts == nullptr || parts->size() < 7) return damaged;
    std::array<const std::string*, 4> texts{};
    std::array<const std::int64_t*, 3> numbers{};
    constexpr std::array<std::size_t, 4> text_places{0, 1, 5, 6};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        texts.at(i) = (*parts)[text_places.at(i)].get_if<std::string>();
        if (texts.at(i) == nullptr) return damaged;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers.at(i) = (*parts)[2 + i].get_if<std::int64_t>();
        if (numbers.at(i) == nullptr) return damaged;
    }
    auto metadata = without_id(*texts[2], *texts[3]);
    if (!metadata) return damaged;
    return std::optional{
        JobBatchCallback{.queue = *texts[0],
                         .job = *texts[1],
                         .attempts_max = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                             *numbers[0], 0, std::numeric_limits<std::uint32_t>::max())),
                         .priority = static_cast<std::int32_t>(
                             std::clamp<std::int64_t>(*numbers[2], -priority_max, priority_max)),
                         .timeout = Duration{*numbers[1]},
                         .metadata = *std::move(metadata)}};
}

}  // namespace routemaster::detail
