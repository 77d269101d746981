/// @file
/// The body of a delivery, part by part.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Converts messages as `delivery_body` does, as many at a time as the caller wants: JSON takes up
/// to six times as much memory as the messages.
///
/// Thread safety: none.
class DeliveryBodyParts {
public:
    explicit DeliveryBodyParts(MessageList messages);
    ~DeliveryBodyParts();
    DeliveryBodyParts(const DeliveryBodyParts&) = delete;
    DeliveryBodyParts& operator=(const DeliveryBodyParts&) = delete;

    /// Appends further messages until they are `enough` bytes. Returns whether more follow.
    [[nodiscard]] bool append(std::string& out, std::size_t enough);

    /// Messages so far that could not be decoded.
    [[nodiscard]] std::size_t undecodable() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster::detail
