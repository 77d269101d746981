/// @file
/// `TypedJob`: a concept for jobs as structs of the program, checked at compile time.
///
///     struct Resize {
///         static constexpr std::string_view name = "resize";
///         std::int64_t image = 0;
///         std::string size;
///
///         rm::Value::Array encode() const { return {image, size}; }
///         static rm::Result<Resize> decode(const rm::Value::Array& arguments) { ... }
///     };
///
///     jobs.push(Resize{42, "large"});
///     pool.handle<Resize>([](const Resize& resize, rm::JobContext& job) { ... });

#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// A type whose values are jobs: it has a name, and a codec to and from the arguments of a `Job`.
///
/// `decode` returns `invalid` for arguments of a different shape. Another program, or another
/// version of this program, may push such arguments under this name. The result of `encode` is part
/// of the identity of the job: equal values are equal jobs (see `PushOptions::unique`). If the only
/// argument is a list, write `Value::Array(1, list)`, because some compilers treat `{list}` as a
/// copy of the list.
template <class T>
concept TypedJob = requires(const T& job, const Value::Array& arguments) {
    { T::name } -> std::convertible_to<std::string_view>;
    { job.encode() } -> std::same_as<Value::Array>;
    { T::decode(arguments) } -> std::same_as<Result<T>>;
};

/// Converts a typed job to a `Job`.
template <TypedJob T>
[[nodiscard]] Job to_job(const T& job) {
    return {.name = std::string{std::string_view{T::name}}, .arguments = job.encode()};
}

}  // namespace routemaster
