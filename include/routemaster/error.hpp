/// @file
/// Error codes, named by how the caller should react, and errors as values and exceptions.

#pragma once

#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace routemaster {

/// The kinds of failure. The text of the `Error` gives the details.
enum class Errc {
    invalid = 1,  ///< The request itself is wrong. Do not retry it; nothing was changed.
    unavailable,  ///< Not possible now (disk full, server unreachable). Retry; nothing was changed.
    timed_out,    ///< In doubt: the call may or may not have had its effect.
    corrupted,    ///< Stored data is damaged. Retrying does not help.
    cancelled,    ///< The caller, or a shutdown, cancelled the call.
    forbidden,    ///< The caller lacks permission. Do not retry; nothing was changed.
    unauthenticated,  ///< The caller's credentials are invalid. Nothing was changed.
    limit_exceeded,   ///< The caller has reached a limit. Nothing was changed.
};

/// The category of all `Errc` codes.
[[nodiscard]] const std::error_category& error_category() noexcept;

/// Converts an `Errc` to a `std::error_code`.
inline std::error_code make_error_code(Errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

}  // namespace routemaster

/// Enables the implicit conversion of an `Errc` to a `std::error_code`.
template <>
struct std::is_error_code_enum<routemaster::Errc> : std::true_type {};

namespace routemaster {

/// A failure as a value: an error code, and one line of text that says what failed.
///
/// Thread safety: a plain value; concurrent reads are safe.
class Error {
public:
    /// `context` names the field, file or address that is wrong or failed.
    Error(std::error_code code, std::string context) : code_{code}, context_{std::move(context)} {}

    [[nodiscard]] const std::error_code& code() const noexcept { return code_; }
    [[nodiscard]] const std::string& context() const noexcept { return context_; }

    /// Whether a repeated call may succeed later. False for `timed_out`: only the caller knows
    /// whether a repetition is safe.
    [[nodiscard]] bool retryable() const noexcept { return code_ == Errc::unavailable; }

    /// `context: code`, for logs and people.
    [[nodiscard]] std::string message() const;

    friend bool operator==(const Error& a, const Error& b) noexcept { return a.code_ == b.code_; }

private:
    std::error_code code_;
    std::string context_;
};

/// An `Error` as an exception, thrown by constructors and by `Result::value()`.
class Failure : public std::system_error {
public:
    explicit Failure(const Error& error) : std::system_error{error.code(), error.context()} {}

    /// The `Error` of this exception.
    [[nodiscard]] Error error() const;
};

}  // namespace routemaster
