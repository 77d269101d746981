#include "answers.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "routemaster/clock.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/printable_text.hpp"
#include "routemaster/time.hpp"
#include "table.hpp"

namespace routemaster::service {
namespace {

template <class T>
const T& checked(const T* part) {
    if (part == nullptr) throw std::runtime_error{"the bus sent an unexpected answer"};
    return *part;
}

}  // namespace

const Value& field(const Value& object, std::string_view key) { return checked(object.find(key)); }

const Value::Array& elements(const Value& array) { return checked(array.get_if<Value::Array>()); }

std::int64_t number(const Value& object, std::string_view key) {
    return checked(field(object, key).get_if<std::int64_t>());
}

std::string printed(const Value& value) {
    if (const auto* text = value.get_if<std::string>()) return *text;
    std::string text;
    append_json(text, value);
    return text;
}

std::string printed_time(const Value& value) {
    const auto* at = value.get_if<std::int64_t>();
    if (at == nullptr) return "-";
    const std::time_t seconds = *at / 1'000;
    std::tm fields{};
    std::array<char, 32> text{};
    if (gmtime_r(&seconds, &fields) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields) == 0) {
        return std::to_string(*at);
    }
    return text.data();
}

namespace {

std::string printed_span(std::int64_t milliseconds) {
    if (milliseconds < 1'000) return "0." + std::to_string(milliseconds / 100) + "s";
    const auto seconds = milliseconds / 1'000;
    const auto two = [](std::int64_t large, char unit, std::int64_t small, char part) {
        return std::to_string(large) + unit + ' ' + std::to_string(small) + part;
    };
    if (seconds < 60) return std::to_string(seconds) + "s";
    if (seconds < 3'600) return two(seconds / 60, 'm', seconds % 60, 's');
    if (seconds < 86'400) return two(seconds / 3'600, 'h', seconds / 60 % 60, 'm');
    return two(seconds / 86'400, 'd', seconds / 3'600 % 24, 'h');
}

}  // namespace

std::string printed_age(const Value& value) {
    const auto* at = value.get_if<std::int64_t>();
    if (at == nullptr) return "-";
    return printed_span(std::max<std::int64_t>(to_milliseconds(system_clock().now()) - *at, 0));
}

std::string printed_wait(const Value& value) {
    const auto* at = value.get_if<std::int64_t>();
    if (at == nullptr) return "-";
    return printed_span(std::max<std::int64_t>(*at - to_milliseconds(system_clock().now()), 0));
}

void print_fields(const std::string& object, bool json) {
    if (json) {
        std::cout << object << '\n';
        return;
    }
    const auto value = parse_json(object).value();
    Rows rows;
    for (const auto& [key, part] : checked(value.get_if<Value::Map>())) {
        const bool is_instant = key == "at" || key.ends_with("_at");
        rows.push_back({key, is_instant ? printed_time(part) : printable_text(printed(part))});
    }
    print_table(rows);
}

void print_explanation(const std::string& subject, std::string_view key, const std::string& body,
                       bool json) {
    if (json) {
        std::cout << body << '\n';
        return;
    }
    const auto all = parse_json(body).value();
    std::cout << printable_text(subject);
    if (!key.empty()) std::cout << " is " << printed(field(field(all, key), "state"));
    std::cout << ": " << printable_text(printed(field(all, "text"))) << '\n';
}

void for_each_item(BusClient& client, std::string path,
                   const std::function<bool(const Value&)>& take) {
    while (!path.empty()) {
        auto answer = client.demand("GET", path);
        const auto page = parse_json(answer.body).value();
        for (const auto& item : elements(page)) {
            if (!take(item)) return;
        }
        path = std::move(answer.next);
    }
}

}  // namespace routemaster::service
