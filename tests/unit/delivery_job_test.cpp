#include "core/store/delivery_job.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace routemaster;

TEST_CASE("a delivery job is encoded in the bytes of Ruby Routemaster") {
    const auto uid = *Uid::parse("abcdefghijklmnopqrst");
    CHECK(detail::delivery_job(uid) ==
          "\x92\xa5"
          "batch\x91\xb4"
          "abcdefghijklmnopqrst");
    CHECK(detail::batch_of(detail::delivery_job(uid)) == uid);
}

TEST_CASE("a job with other bytes is not decoded as a delivery job") {
    const auto job = detail::delivery_job(*Uid::parse("abcdefghijklmnopqrst"));
    for (const std::string& other :
         {std::string{}, std::string{"\x92\xa7monitor\x90"}, job + "x",
          job.substr(0, job.size() - 1), job.substr(0, job.size() - 1) + "!",
          std::string{"\x93"} + job.substr(1)}) {
        CHECK_FALSE(detail::batch_of(other).has_value());
    }
}
