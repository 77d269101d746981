// Prints the Redis command by which the store performs a step, for redis-benchmark to repeat.
//
//   bench_redis_words push       a push to the queue of `bench_redis_push`
//   bench_redis_words publish    an event of `bench_redis_publish`
//
// Prints a JSON array of the script, which must be loaded into the server, and the words from
// EVALSHA on. The store's own code generates both. A byte is printed as a character of Latin-1. In
// each command redis-benchmark replaces `__rand_int__` with twelve random digits.

#include <charconv>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "jobs.hpp"
#include "options.hpp"
#include "redis_run.hpp"
#include "routemaster/clock.hpp"
#include "step_call.hpp"

namespace {

namespace rm = routemaster;

constexpr std::string_view placeholder = "__rand_int__";

rm::Step push(rm::TimePoint now) {
    return rm::PushJob{bench::job_queue, bench::encoded_job(placeholder), now};
}

rm::Step publish(rm::TimePoint now) {
    constexpr std::size_t message_size = 65;
    // Any bytes except zeros, which redis-benchmark does not support. The script does not check
    // them.
    std::string message{placeholder};
    message.resize(message_size, 'x');
    return rm::PublishEvent{.topic = "orders",
                            .publisher = "bench-publisher",
                            .message = message,
                            .timestamp = now,
                            .uid = rm::Uid::parse("__rand_int__AAAAAAAA").value()};
}

/// Decodes words of the form `$length CRLF bytes CRLF`.
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
    const auto call = rm::redis::step_call(step, {.prefix = {}, .now = now}).value().call;
    std::cout << '[' << json(call.script->source) << R"(,"EVALSHA",)" << json(call.script->sha1);
    for (const auto& word : words_of(call.arguments.encoded())) std::cout << ',' << json(word);
    std::cout << "]" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options{"Prints the command by which the store on Redis performs a step",
                           "redis_words"};
    const auto now = rm::system_clock().now();
    options.add_command("push", [now] { print(push(now), now); });
    options.add_command("publish", [now] { print(publish(now), now); });
    return options.run(argc, argv, [] {});
}
