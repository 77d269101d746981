#include "wire.hpp"

#include <cstddef>
#include <new>

namespace routemaster::redis {

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
    Arguments arguments;
    for (const auto word : words) arguments.add(word);
    out.append("*").append(std::to_string(words.size())).append("\r\n").append(arguments.encoded());
}

std::string_view text_of(const redisReply& reply, std::size_t element) {
    if (reply.type != REDIS_REPLY_ARRAY || element >= reply.elements) return {};
    return text_of(*reply.element[element]);
}

ReplyParser::ReplyParser() : reader_{redisReaderCreate()} {
    if (!reader_) throw std::bad_alloc{};
    // How much unused buffer the reader retains. By default, it frees its buffer whenever more than
    // 16 KiB are unused.
    constexpr std::size_t kept = 1U << 18U;
    reader_->maxbuf = kept;
}

void ReplyParser::feed(std::string_view bytes) {
    // The result is ignored, because the reader stores the failure and `next` returns it.
    static_cast<void>(redisReaderFeed(reader_.get(), bytes.data(), bytes.size()));
}

Result<ServerReply> ReplyParser::next() {
    void* reply = nullptr;
    if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        return Error{Errc::corrupted, std::string{"not a Redis reply: "} + reader_->errstr};
    }
    return ServerReply{static_cast<redisReply*>(reply)};
}

bool ReplyParser::is_in_the_middle() const {
    // The reader is inside a reply in three cases: it has unread bytes, it is inside an array, or
    // it has read the type of an item but not the whole item.
    const redisReader& reader = *reader_;
    return reader.pos < reader.len || reader.ridx > 0 ||
           (reader.ridx == 0 && reader.rstack[0].type >= 0);
}

}  // namespace routemaster::redis
