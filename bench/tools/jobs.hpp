/// @file
/// The jobs of queue benchmarks, the same for the bus and for its baselines.

#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"

namespace bench {

inline constexpr const char* job_queue = "bench";

/// The length of a job's number: redis-benchmark substitutes as many characters for `__rand_int__`.
inline constexpr std::size_t number_length = 12;

/// A job with this text as its only argument.
[[nodiscard]] inline std::string encoded_job(std::string_view argument) {
    return routemaster::encode_job({.name = "bench", .arguments = {argument}});
}

/// The job number `n`, encoded. It ends in the number.
[[nodiscard]] inline std::string numbered_job(std::uint64_t n) {
    auto digits = std::to_string(n);
    digits.insert(0, number_length - digits.size(), '0');
    return encoded_job(digits);
}

/// The bytes of a large job, encoded.
inline constexpr std::size_t large_job_size = 200;

/// The large job number `n`, encoded. It ends in the number.
[[nodiscard]] inline std::string large_job(std::uint64_t n) {
    static const std::size_t rest =
        encoded_job(std::string(large_job_size / 2, 'x')).size() - large_job_size / 2;
    auto digits = std::to_string(n);
    digits.insert(0, large_job_size - rest - digits.size(), '0');
    return encoded_job(digits);
}

/// The number at the end of a job.
[[nodiscard]] inline std::uint64_t number_of(std::string_view job) {
    const auto digits = job.substr(job.size() - number_length);
    std::uint64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return n;
}

}  // namespace bench
