/// @file
/// The body of a delivery, part by part.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Converts messages as `delivery_body` does, in parts: JSON takes up to six times the memory of
/// the messages.
///
/// Thread safety: none.
class DeliveryBodyParts {
public:
    explicit DeliveryBodyParts(MessageList messages);
    ~DeliveryBodyParts();
    DeliveryBodyParts(const DeliveryBodyParts&) = delete;
    DeliveryBodyParts& operator=(const DeliveryBodyParts&) = delete;

    /// Appends messages until they have `enough` bytes. Returns whether more follow.
    [[nodiscard]] bool append(std::string& out, std::size_t enough);

    [[nodiscard]] std::size_t undecodable() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster::detail
