/// @file
/// The protocol RESP2: encodes commands and parses replies.

#pragma once

#include <hiredis/hiredis.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "call.hpp"
#include "routemaster/result.hpp"

namespace routemaster::redis {

void append_command(std::string& out, std::initializer_list<std::string_view> words);

/// The text in a reply of type string, status or error. Empty for any other type.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view{} : std::string_view{reply.str, reply.len};
}

/// The text in an element of an array reply. Empty if the element does not exist.
[[nodiscard]] std::string_view text_of(const redisReply& reply, std::size_t element);

/// Incremental parser for replies of any size. Uses the reader of hiredis, with a time proportional
/// to the input.
class ReplyParser {
public:
    /// Throws `std::bad_alloc`.
    ReplyParser();

    void feed(std::string_view bytes);

    /// The next complete reply, which may be of type error. Null if more bytes are needed. An error
    /// if the bytes are not RESP2.
    [[nodiscard]] Result<ServerReply> next();

    [[nodiscard]] bool is_in_the_middle() const;

private:
    struct Free {
        void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
    };

    std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace routemaster::redis
