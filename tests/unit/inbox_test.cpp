#include "core/work/inbox.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

using routemaster::detail::Inbox;

TEST_CASE("letters are taken once, in the order they came") {
    Inbox<int> inbox;
    CHECK(inbox.empty());
    inbox.put(1);
    inbox.put(2);
    CHECK(!inbox.empty());
    const auto mail = inbox.take();
    CHECK(mail.letters == std::vector<int>{1, 2});
    CHECK(!mail.woken);
    CHECK(inbox.empty());
    CHECK(inbox.take().letters.empty());
}

TEST_CASE("a wake-up without a letter is mail, too") {
    Inbox<int> inbox;
    inbox.wake();
    CHECK(!inbox.empty());
    CHECK(inbox.take().woken);
    CHECK(!inbox.take().woken);
}

TEST_CASE("whatever comes wakes the reader, for as long as it wants to be woken") {
    Inbox<int> inbox;
    int woken = 0;
    inbox.put(1);
    inbox.wake_with([&] { ++woken; });
    CHECK(woken == 0);
    inbox.put(2);
    CHECK(woken == 1);
    inbox.wake();
    CHECK(woken == 2);
    inbox.wake_with({});
    inbox.put(3);
    inbox.wake();
    CHECK(woken == 2);
}

TEST_CASE("letters that cannot be copied are moved") {
    Inbox<std::unique_ptr<int>> inbox;
    inbox.put(std::make_unique<int>(7));
    const auto mail = inbox.take();
    REQUIRE(mail.letters.size() == 1);
    CHECK(*mail.letters.front() == 7);
}

TEST_CASE("letters from several threads all arrive, those of one thread in order") {
    constexpr int writers = 4;
    constexpr int each = 2'000;
    Inbox<std::pair<int, int>> inbox;
    std::vector<std::pair<int, int>> all;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&inbox, writer] {
                for (int n = 0; n < each; ++n) inbox.put({writer, n});
            });
        }
        while (all.size() < std::size_t{writers} * each) {
            for (const auto& letter : inbox.take().letters) all.push_back(letter);
        }
    }
    std::vector<int> next(writers, 0);
    bool in_order = true;
    for (const auto& [writer, n] : all) {
        in_order = in_order && n == next[static_cast<std::size_t>(writer)]++;
    }
    CHECK(in_order);
    CHECK(inbox.empty());
}
