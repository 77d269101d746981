#include "routemaster/error.hpp"

#include <array>
#include <cstddef>
#include <new>

namespace routemaster {
namespace {

class ErrorCategory final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "routemaster"; }
    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<Errc>(code)) {
            case Errc::invalid: return "invalid";
            case Errc::unavailable: return "unavailable";
            case Errc::timed_out: return "timed out";
            case Errc::corrupted: return "corrupted";
            case Errc::cancelled: return "cancelled";
            case Errc::forbidden: return "forbidden";
            case Errc::unauthenticated: return "unauthenticated";
            case Errc::limit_exceeded: return "limit exceeded";
        }
        return "unknown error";
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    // Never destroyed, because a static pool may log errors after the destructors of static objects
    // that were constructed later.
    alignas(ErrorCategory) static std::array<std::byte, sizeof(ErrorCategory)> place;
    static const auto* const category = new (place.data()) ErrorCategory;
    return *category;
}

std::string Error::message() const {
    return context_.empty() ? code_.message() : context_ + ": " + code_.message();
}

Error Failure::error() const {
    std::string text = what();
    const std::string tail = ": " + code().message();
    if (text.ends_with(tail)) text.resize(text.size() - tail.size());
    return {code(), text};
}

}  // namespace routemaster
