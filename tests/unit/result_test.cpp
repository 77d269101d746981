#include "routemaster/result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "routemaster/log.hpp"

using namespace routemaster;

namespace {

Result<std::string> a_text() { return std::string{"text"}; }
Result<std::string> bad() { return Error{Errc::invalid, "field: must be shorter"}; }

}  // namespace

TEST_CASE("a result can contain a value") {
    auto result = a_text();
    CHECK(result.has_value());
    CHECK(static_cast<bool>(result));
    CHECK(*result == "text");
    CHECK(result->size() == 4);
    CHECK(result.value() == "text");
    CHECK(result.value_or("other") == "text");
    CHECK(*std::as_const(result) == "text");
    CHECK(std::as_const(result)->size() == 4);
    CHECK(std::as_const(result).value() == "text");
    *result += " more";
    CHECK(a_text().value() == "text");
    CHECK(*std::move(result) == "text more");
}

TEST_CASE("a result without a value contains an error") {
    const auto result = bad();
    CHECK_FALSE(result.has_value());
    CHECK_FALSE(static_cast<bool>(result));
    CHECK(result.error().code() == Errc::invalid);
    CHECK(result.error().context() == "field: must be shorter");
    CHECK(result.value_or("other") == "other");
    CHECK_THROWS_AS(static_cast<void>(result.value()), Failure);
}

TEST_CASE("a result of a move-only value can be moved from") {
    Result<std::unique_ptr<int>> result{std::make_unique<int>(7)};
    const std::unique_ptr<int> taken = *std::move(result);
    CHECK(*taken == 7);
    CHECK(*Result<std::unique_ptr<int>>{std::make_unique<int>(8)}.value() == 8);
}

TEST_CASE("a Result<void> reports its success") {
    const Result<void> good{};
    CHECK(good.has_value());
    CHECK_NOTHROW(good.value());
    const Result<void> bad{Error{Errc::cancelled, "shutting down"}};
    CHECK_FALSE(static_cast<bool>(bad));
    CHECK(bad.error().code() == Errc::cancelled);
    CHECK_THROWS_AS(bad.value(), Failure);
}

TEST_CASE("the exception Failure is a std::system_error, and returns its error") {
    for (const Error& error :
         {Error{Errc::unavailable, "disk"}, Error{Errc::timed_out, "a: b: timed out"},
          Error{std::make_error_code(std::errc::no_space_on_device), "/data"}}) {
        try {
            throw Failure{error};
        } catch (const std::system_error& thrown) {
            CHECK(thrown.code() == error.code());
            CHECK(thrown.what() == error.message());
            const auto* failure = dynamic_cast<const Failure*>(&thrown);
            REQUIRE(failure != nullptr);
            CHECK(failure->error().code() == error.code());
            CHECK(failure->error().context() == error.context());
        }
    }
}

TEST_CASE("error texts name the object and a remedy") {
    const Error error{Errc::unavailable, "bus.db"};
    CHECK(error.message() == "bus.db: unavailable");
    CHECK(Error{Errc::corrupted, ""}.message() == "corrupted");
    CHECK(error.code().category().name() == std::string{"routemaster"});
    CHECK(error.retryable());
    for (const auto code : {Errc::invalid, Errc::timed_out, Errc::corrupted, Errc::cancelled}) {
        CHECK_FALSE(Error{code, ""}.retryable());
        CHECK(make_error_code(code).message() != "unknown error");
    }
    CHECK(make_error_code(static_cast<Errc>(77)).message() == "unknown error");
    CHECK(error == Error{Errc::unavailable, "another context"});
    CHECK_FALSE(error == Error{Errc::invalid, "bus.db"});
}

TEST_CASE("each log level has a name") {
    CHECK(to_string(LogLevel::debug) == "debug");
    CHECK(to_string(LogLevel::info) == "info");
    CHECK(to_string(LogLevel::warning) == "warning");
    CHECK(to_string(LogLevel::error) == "error");
}
