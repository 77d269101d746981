#include "routemaster/codec/delivery_body.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "core/codec/canonical_message.hpp"
#include "core/codec/delivery_body_parts.hpp"
#include "core/codec/json_writer.hpp"
#include "core/codec/message_reader.hpp"
#include "core/codec/msgpack_parser.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/event.hpp"

namespace routemaster {
namespace detail {

/// Prints the data of an event as JSON, formatted as Ruby Routemaster formats it.
class DataWriter : public JsonWriter {
public:
    using JsonWriter::JsonWriter;

    bool real(double number) {
        separate();
        append_json_number(out(), number);
        return true;
    }
};

class BodyWriter {
public:
    explicit BodyWriter(DeliveryBody& body) noexcept : body_{body} {}

    /// Appends `message` to the body. Counts an undecodable message, and skips a ping or a kill.
    void add(std::string_view message) {
        if (add_canonical(message)) return;
        MessageReader reader{data_writer_};
        switch (reader.read(message)) {
            case MessageKind::event:
                begin_event(reader.topic(), reader.type(), reader.url());
                std::visit(TimeWriter{body_.json}, reader.timestamp());
                end_event(reader.has_data());
                break;
            case MessageKind::other: break;
            case MessageKind::undecodable: ++body_.undecodable; break;
        }
    }

private:
    struct TimeWriter {
        std::string& out;
        void operator()(std::monostate) const {}
        void operator()(std::int64_t time) const { append_decimal(out, time); }
        void operator()(std::uint64_t time) const { append_decimal(out, time); }
        void operator()(double time) const { append_json_number(out, time); }
    };

    [[nodiscard]] bool add_canonical(std::string_view message) {
        const auto event = canonical_message(message);
        if (!event) return false;
        const bool has_data = event->data != "\xc0";
        if (has_data && !read_data(event->data)) return false;
        begin_event(event->topic, event->type, event->url);
        append_decimal(body_.json, event->timestamp);
        end_event(has_data);
        return true;
    }

    /// Converts `bytes` from MessagePack to JSON. False if they are not a map.
    [[nodiscard]] bool read_data(std::string_view bytes) {
        data_writer_.clear();
        return parse_msgpack(bytes, data_writer_) && data_.front() == '{';
    }

    void begin_event(std::string_view topic, EventType type, std::string_view url) {
        std::string& out = body_.json;
        if (body_.events++ != 0) out.push_back(',');
        out.append(R"({"topic":)");
        append_json_text(out, topic);
        out.append(R"(,"type":")").append(to_string(type)).append(R"(","url":)");
        append_json_text(out, url);
        out.append(R"(,"t":)");
    }

    void end_event(bool has_data) {
        if (has_data) body_.json.append(R"(,"data":)").append(data_);
        body_.json.push_back('}');
    }

    DeliveryBody& body_;
    std::string data_;
    DataWriter data_writer_{data_};
};

struct DeliveryBodyParts::Impl {
    explicit Impl(MessageList all) : messages{std::move(all)} {}

    const MessageList messages;
    MessageList::Iterator next = messages.begin();
    DeliveryBody body{};
    BodyWriter writer{body};
};

DeliveryBodyParts::DeliveryBodyParts(MessageList messages)
    : impl_{std::make_unique<Impl>(std::move(messages))} {
    impl_->body.json.push_back('[');
}

DeliveryBodyParts::~DeliveryBodyParts() = default;

bool DeliveryBodyParts::append(std::string& out, std::size_t enough) {
    auto& [messages, next, body, writer] = *impl_;
    while (next != messages.end() && body.json.size() < enough) {
        writer.add(*next);
        ++next;
    }
    const bool more = next != messages.end();
    if (!more) body.json.push_back(']');
    if (out.empty()) {
        out.swap(body.json);
    } else {
        out.append(body.json);
        body.json.clear();
    }
    return more;
}

std::size_t DeliveryBodyParts::undecodable() const noexcept { return impl_->body.undecodable; }

}  // namespace detail

DeliveryBody delivery_body(const MessageList& messages) {
    constexpr std::size_t longer_than_msgpack = 24;
    DeliveryBody body;
    body.json.reserve(messages.bytes() + messages.size() * longer_than_msgpack + 2);
    detail::BodyWriter writer{body};
    body.json.push_back('[');
    for (const auto message : messages) writer.add(message);
    body.json.push_back(']');
    return body;
}

}  // namespace routemaster
