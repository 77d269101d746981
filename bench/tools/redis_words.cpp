// Prints the command by which the store on Redis performs a step, for redis-benchmark to repeat.
//
//   bench_redis_words push       a push to the queue that `bench_redis_push` pushes to
//   bench_redis_words publish    an event as `bench_redis_publish` publishes it
//
// A JSON array of the words from EVALSHA on, made by the store's own code; a byte is a character of
// Latin-1. What has to differ from one command to the next has `__rand_int__` in it, which
// redis-benchmark replaces by twelve random digits. The server knows the script once a store was
// connected to it.

#include <charconv>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "jobs.hpp"
#include "redis_run.hpp"
#include "requests.hpp"
#include "routemaster/clock.hpp"

namespace {

namespace rm = routemaster;

constexpr std::string_view placeholder = "__rand_int__";

rm::Step push(rm::TimePoint now) {
    return rm::PushJob{bench::job_queue, bench::encoded_job(placeholder), now};
}

rm::Step publish(rm::TimePoint now) {
    constexpr std::size_t message_size = 65;
    // Of any bytes but zeros, with which redis-benchmark cannot deal: the script does not look.
    std::string message{placeholder};
    message.resize(message_size, 'x');
    return rm::PublishEvent{.topic = "orders",
                            .publisher = "bench-publisher",
                            .message = message,
                            .timestamp = now,
                            .uid = rm::Uid::parse("__rand_int__AAAAAAAA").value()};
}

/// The words that are encoded one after the other as `$length CRLF bytes CRLF`.
std::vector<std::string> words_of(std::string_view encoded) {
    std::vector<std::string> words;
    while (!encoded.empty()) {
        const auto line_end = encoded.find("\r\n");
        std::size_t size = 0;
        std::from_chars(encoded.data() + 1, encoded.data() + line_end, size);
        words.emplace_back(encoded.substr(line_end + 2, size));
        encoded.remove_prefix(line_end + 2 + size + 2);
    }
    return words;
}

std::string json(std::string_view word) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\"";
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
            text += c;
        } else {
            text.append("\\u00").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
        }
    }
    return text + '"';
}

void print(const rm::Step& step, rm::TimePoint now) {
    const auto call = rm::redis::request(step, {.prefix = {}, .now = now}).value();
    std::cout << R"(["EVALSHA",)" << json(call.script->sha1);
    for (const auto& word : words_of(call.arguments.encoded())) std::cout << ',' << json(word);
    std::cout << "]" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Prints the command by which the store on Redis performs a step", "redis_words"};
    const auto now = rm::system_clock().now();
    app.add_subcommand("push")->callback([now] { print(push(now), now); });
    app.add_subcommand("publish")->callback([now] { print(publish(now), now); });
    app.require_subcommand(1);
    return bench::run_main(app, argc, argv, [] {});
}
