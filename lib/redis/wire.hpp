/// @file
/// The protocol RESP2: encodes commands, parses replies.

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

/// Appends a command of a few short words.
void append_command(std::string& out, std::initializer_list<std::string_view> words);

/// The text of a reply of type string, status or error; empty for any other type.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view{} : std::string_view{reply.str, reply.len};
}

/// The text of an element of an array reply; empty when the element does not exist.
[[nodiscard]] std::string_view text_of(const redisReply& reply, std::size_t element);

/// Assembles replies from arriving bytes. Uses hiredis' reader, whose time is proportional to the
/// input, for replies of any size.
class ReplyParser {
public:
    /// Throws `std::bad_alloc`.
    ReplyParser();

    void feed(std::string_view bytes);

    /// The next reply, which may be of type error; null when more bytes are needed. An error when
    /// the bytes are not RESP2.
    [[nodiscard]] Result<ServerReply> next();

    /// Whether a reply has begun and is incomplete.
    [[nodiscard]] bool is_in_the_middle() const;

private:
    struct Free {
        void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
    };

    std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace routemaster::redis
