/// @file
/// `Call`: a script to run on the server, with its arguments and the callback for its result.

#pragma once

#include <hiredis/hiredis.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"
#include "script.hpp"

namespace routemaster::redis {

struct FreeReply {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};

/// A reply of the server. Its type is never REDIS_REPLY_ERROR, because an error reply becomes an
/// `Error`.
using ServerReply = std::unique_ptr<redisReply, FreeReply>;

/// The result of a call: the reply or an error. The error is `unavailable` when the script
/// certainly did not run, `timed_out` when it may have run, `invalid` when the script rejected the
/// call and changed nothing, and `corrupted` when the script failed on the data it found.
using CallResult = Result<ServerReply>;

/// The encoded arguments of a command, as RESP bulk strings.
class Arguments {
public:
    Arguments& add(std::string_view text) {
        char size[24];
        const auto end = std::to_chars(size, size + sizeof size, text.size()).ptr;
        encoded_.append("$", 1).append(size, end).append("\r\n", 2);
        encoded_.append(text).append("\r\n", 2);
        ++count_;
        return *this;
    }
    Arguments& add(std::integral auto number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        return add(std::string_view{digits, end});
    }

    /// Appends the arguments in `list`, except its first `skipped`. The list must have at least
    /// `skipped` arguments.
    void add_behind(const Arguments& list, std::size_t skipped) {
        std::string_view rest = list.encoded_;
        for (std::size_t i = 0; i < skipped; ++i) {
            const auto head = rest.find("\r\n") + 2;
            std::size_t size = 0;
            std::from_chars(rest.data() + 1, rest.data() + head, size);
            rest.remove_prefix(head + size + 2);
        }
        encoded_.append(rest);
        count_ += list.count_ - skipped;
    }

    /// Marks the end of the common arguments. Calls can only be joined if their common arguments
    /// are equal. Arguments added from here on belong to this call alone.
    Arguments& begin_own() {
        own_at_ = encoded_.size();
        own_count_ = count_;
        return *this;
    }
    [[nodiscard]] bool shares_with(const Arguments& other) const noexcept {
        return own_count_ == other.own_count_ &&
               std::string_view{encoded_}.substr(0, own_at_) ==
                   std::string_view{other.encoded_}.substr(0, other.own_at_);
    }
    /// Appends the arguments of `other`, without the common arguments.
    void add_own_of(const Arguments& other) {
        encoded_.append(other.encoded_, other.own_at_);
        count_ += other.count_ - other.own_count_;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] const std::string& encoded() const noexcept { return encoded_; }

private:
    std::string encoded_;
    std::size_t count_ = 0;
    std::size_t own_at_ = 0;     ///< Offset of the call's own arguments in `encoded_`.
    std::size_t own_count_ = 0;  ///< The number of common arguments.
};

/// A script to run. The arguments are the number of keys, the keys, and the remaining arguments.
struct Call {
    const Script* script = nullptr;  ///< Must outlive the call.
    Arguments arguments{};
    /// Called once, on the link's thread, or inside `send` when the call is rejected at once. Must
    /// not block.
    std::function<void(CallResult)> done;
    /// The script that runs several calls of this kind in order; see `join`. Must outlive the call.
    /// Null if the call cannot be joined with others.
    const Script* joint = nullptr;
    std::size_t joined = 1;
};

}  // namespace routemaster::redis
