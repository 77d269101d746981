/// @file
/// Values, events, jobs and counter keys drawn at random.

#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "routemaster/counter.hpp"
#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/random.hpp"
#include "routemaster/value.hpp"

namespace routemaster::test {

/// Up to `size_max` bytes of any kind.
inline std::string random_bytes(Random& random, std::size_t size_max) {
    std::string bytes(random.below(size_max + 1), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.below(256));
    return bytes;
}

/// Valid UTF-8 with characters of all lengths, quotes and control characters. Mostly short,
/// sometimes with a length around the limits of the encodings.
inline std::string random_text(Random& random) {
    static const char* const pieces[] = {"a",  "Z",    "7", "/", "\"", "\\",
                                         "\n", "\x01", "é", "€", "𝄞",  "\x7f"};
    static const std::size_t lengths[] = {31, 32, 255, 256, 65'535, 65'536};
    const std::size_t size = random.below(40) == 0 ? lengths[random.below(6)] : random.below(12);
    std::string text;
    while (text.size() < size) text += pieces[random.below(std::size(pieces))];
    return text;
}

/// A number of a random width.
inline std::uint64_t random_bits(Random& random) {
    const auto unused = random.below(64);
    return random.next() >> unused;
}

/// An integer of a random width and sign.
inline Value random_integer(Random& random) {
    const auto bits = random_bits(random);
    if (random.below(2) == 0) return Value{bits};
    return Value{std::bit_cast<std::int64_t>(bits)};
}

/// A finite double with random bits.
inline double random_real(Random& random) {
    while (true) {
        const auto real = std::bit_cast<double>(random.next());
        if (std::isfinite(real)) return real;
    }
}

/// A value of any shape, at most `depth` deep, with distinct keys in its maps.
inline Value random_value(Random& random, unsigned depth = 4) {
    switch (random.below(depth == 0 ? 5 : 8)) {
        case 0: return {};
        case 1: return {random.below(2) == 0};
        case 2: return random_integer(random);
        case 3: return {random_real(random)};
        case 4: return {random_text(random)};
        case 5:
        case 6: {
            Value::Array array;
            const auto size = random.below(random.below(20) == 0 ? 20 : 4);
            for (std::uint64_t i = 0; i < size; ++i)
                array.push_back(random_value(random, depth - 1));
            return {std::move(array)};
        }
        default: {
            Value::Map map;
            const auto size = random.below(random.below(20) == 0 ? 20 : 4);
            for (std::uint64_t i = 0; i < size; ++i) {
                // A separate statement: the order of evaluation of arguments depends on the
                // compiler.
                std::string name = std::to_string(i) + random_text(random);
                map.emplace_back(std::move(name), random_value(random, depth - 1));
            }
            return {std::move(map)};
        }
    }
}

/// An event with every field set, data now and then.
inline Event random_event(Random& random) {
    static const EventType types[] = {EventType::create, EventType::update, EventType::remove,
                                      EventType::noop};
    Event event{.topic = std::string(1 + random.below(64), 'o'), .type = types[random.below(4)]};
    event.url = "https://shop.example/" + std::string(random.below(20), '/');
    event.url.append(random.below(random.below(10) == 0 ? 400 : 12), 'u');
    event.timestamp = from_milliseconds(std::bit_cast<std::int64_t>(random_bits(random)));
    if (random.below(2) == 0) {
        event.data = Value{Value::Map{{random_text(random), random_value(random)}}};
    }
    return event;
}

/// A job with up to three arguments.
inline Job random_job(Random& random) {
    Job job{.name = random_text(random)};
    const auto size = random.below(4);
    for (std::uint64_t i = 0; i < size; ++i) job.arguments.push_back(random_value(random));
    return job;
}

/// A counter's key with up to three tags, some of them unknown.
inline CounterKey random_counter_key(Random& random) {
    CounterKey key{.name = random_text(random)};
    const auto size = random.below(4);
    for (std::uint64_t i = 0; i < size; ++i) {
        key.tags.emplace_back(random_text(random), std::nullopt);
        if (random.below(4) != 0) key.tags.back().second = random_text(random);
    }
    return key;
}

}  // namespace routemaster::test
