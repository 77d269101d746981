/// @file
/// The floods by which a receiver can keep a transport busy.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/flooding_receiver.hpp"
#include "support/http2_frames.hpp"

namespace routemaster::test {

/// Frames of HTTP/2, most of them empty.
inline std::vector<Flood> http2_floods() {
    const auto headers = [](std::uint8_t flags, const std::string& block) {
        return http2_frame(frame::headers, flags, 1, block);
    };
    const std::string settings = http2_frame(frame::settings, 0, 0);
    const std::string answer = settings + headers(frame::end_headers, hpack_status("200"));
    const std::string empty = http2_frame(frame::data, 0, 1);
    std::string full_record;
    while (full_record.size() < 16'000) full_record += empty;
    // A field of 4,000 bytes. Each byte after it repeats the field.
    const std::string large_fields = std::string{"\x40\x01x\x7f\xa1\x1e", 6} +
                                     std::string(4'000, 'b') + std::string(12'000, '\xbe');

    std::vector<Flood> all;
    const auto add = [&all](std::string name, std::string beginning, std::string part) {
        all.push_back({.name = std::move(name),
                       .http2 = true,
                       .beginning = std::move(beginning),
                       .part = std::move(part)});
    };
    add("empty DATA", answer, empty);
    add("empty DATA in full records", answer, full_record);
    add("DATA of one byte", answer, http2_frame(frame::data, 0, 1, "b"));
    add("DATA of padding", answer,
        http2_frame(frame::data, frame::padded, 1, '\xff' + std::string(255, '\0')));
    add("WINDOW_UPDATE", settings,
        http2_frame(frame::window_update, 0, 0, std::string{"\0\0\0\1", 4}));
    add("PRIORITY", settings, http2_frame(frame::priority, 0, 1, std::string(5, '\0')));
    add("frames of an unknown type", settings, http2_frame(frame::unknown, 0, 1));
    add("PING", settings, http2_frame(frame::ping, 0, 0, "12345678"));
    add("SETTINGS", settings, settings);
    add("interim answers over HTTP/2", settings, headers(frame::end_headers, hpack_status("103")));
    add("large headers in few bytes", settings,
        headers(frame::end_headers, hpack_status("103") + large_fields));
    add("CONTINUATION", settings + headers(0, hpack_status("200")),
        http2_frame(frame::continuation, 0, 1));
    return all;
}

/// Parts of a response over HTTP/1.1.
inline std::vector<Flood> http1_floods() {
    const std::string head = "HTTP/1.1 200 OK\r\n";
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
    return {
        {.name = "headers", .beginning = head, .part = "X-A: b\r\n"},
        {.name = "a folded header", .beginning = head + "X-A: b\r\n", .part = " b\r\n"},
        {.name = "interim answers", .part = "HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"},
        {.name = "a body", .beginning = head + "\r\n", .part = "b"},
        {.name = "chunks", .beginning = chunked, .part = "1\r\nb\r\n"},
        {.name = "the extension of a chunk", .beginning = chunked + "1;", .part = "b"},
        {.name = "trailers", .beginning = chunked + "0\r\n", .part = "X-A: b\r\n"},
    };
}

/// Messages of TLS.
inline std::vector<Flood> handshake_floods() {
    return {
        {.name = "session tickets", .handshake = Flood::Handshake::tickets},
        {.name = "key updates", .handshake = Flood::Handshake::key_updates},
        {.name = "key updates that want another", .handshake = Flood::Handshake::key_exchanges},
        {.name = "renegotiations", .handshake = Flood::Handshake::renegotiations},
    };
}

/// All floods above, over TLS.
inline std::vector<Flood> tls_floods() {
    std::vector<Flood> all;
    for (const auto& floods : {http2_floods(), http1_floods(), handshake_floods()}) {
        all.insert(all.end(), floods.begin(), floods.end());
    }
    return all;
}

}  // namespace routemaster::test
