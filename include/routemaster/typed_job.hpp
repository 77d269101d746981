/// @file
/// `TypedJob`: jobs as structs of the program, checked when it is compiled.
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
/// `decode` answers `invalid` for arguments that are none of this type: a job of that name which
/// another program, or another version of this one, pushed. What `encode` returns is part of the
/// identity of the job, so equal values are the same job (see `PushOptions::unique`). Where the
/// only argument is a list, write `Value::Array(1, list)`: of `{list}` some compilers make a copy.
template <class T>
concept TypedJob = requires(const T& job, const Value::Array& arguments) {
    { T::name } -> std::convertible_to<std::string_view>;
    { job.encode() } -> std::same_as<Value::Array>;
    { T::decode(arguments) } -> std::same_as<Result<T>>;
};

/// The untyped form.
template <TypedJob T>
[[nodiscard]] Job to_job(const T& job) {
    return {.name = std::string{std::string_view{T::name}}, .arguments = job.encode()};
}

}  // namespace routemaster
