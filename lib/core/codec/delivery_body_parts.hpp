/// @file
/// Produces the body of a delivery in chunks.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// Generator that converts messages to JSON, as `delivery_body` does, chunk by chunk. The whole
/// body would take up to six times the memory of the messages.
///
/// Not thread safe.
class DeliveryBodyParts {
public:
    explicit DeliveryBodyParts(MessageList messages);
    ~DeliveryBodyParts();
    DeliveryBodyParts(const DeliveryBodyParts&) = delete;
    DeliveryBodyParts& operator=(const DeliveryBodyParts&) = delete;

    /// Appends whole messages to `out` until it has `enough` bytes. Returns whether messages
    /// remain.
    [[nodiscard]] bool append(std::string& out, std::size_t enough);

    [[nodiscard]] std::size_t undecodable() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster::detail
