/// @file
/// `FileScene`: an embedded store in a temporary file, with helpers for tests.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store/embedded.hpp"
#include "routemaster/store/perform.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// The settings of a store, with defaults.
struct FileOptions {
    Durability durability = Durability::strict;
    std::uint64_t slack_max = EmbeddedStoreOptions{}.slack_max;
    std::uint64_t memory_max = 0;
    std::uint64_t row_bytes_max = EmbeddedStoreOptions{}.row_bytes_max;
    Log log{};
};

/// How the state is stored when the file is opened again.
struct FileRows {
    FileOptions options{};
    int behind = 1;  ///< The number of rows to add after those of the test.
};

/// Leaves each change in its own row; in a second subcase, makes compaction move the state to later
/// rows.
inline FileRows changed_or_moved_rows() {
    FileRows rows;
    SUBCASE("the rows of the changes are still in the file") {}
    SUBCASE(
        "the rows were moved by "
        "compaction") {
        rows = {.options = {.slack_max = 1'024}, .behind = 3'000};
    }
    return rows;
}

/// The reason why a file cannot be opened as a store; nothing when it can.
inline std::optional<Error> refusal_of(const std::filesystem::path& file) {
    try {
        const EmbeddedStore store{file};
        return std::nullopt;
    } catch (const Failure& failure) {
        return failure.error();
    }
}

/// A store in a file. Only the test changes `now`.
struct FileScene {
    explicit FileScene(const FileOptions& options = {}) { open(options); }

    void open(const FileOptions& options = {}) { open_at(file, options); }
    void open_at(const std::filesystem::path& at, const FileOptions& options = {}) {
        store.emplace(at, EmbeddedStoreOptions{.durability = options.durability,
                                               .slack_max = options.slack_max,
                                               .memory_max = options.memory_max,
                                               .row_bytes_max = options.row_bytes_max,
                                               .log = options.log});
    }
    void close() { store.reset(); }

    /// Performs a step; any outcome is accepted.
    template <class S>
    Result<typename S::Reply> perform(S step) {
        return routemaster::perform(*store, std::move(step), now);
    }

    /// Performs a step. The step must succeed.
    template <class S>
    typename S::Reply must(S step) {
        return perform(std::move(step)).value();
    }

    void subscribe(const std::string& token, std::uint32_t max_events = 100) {
        must(Subscribe{token,
                       {"orders"},
                       {.callback = "https://" + token + ".example/",
                        .timeout = Duration{0},
                        .max_events = max_events}});
    }

    /// A step that publishes `message` to the topic `orders`.
    PublishEvent event(std::string message) {
        return {.topic = "orders",
                .publisher = std::nullopt,
                .message = std::move(message),
                .timestamp = now,
                .uid = uids.next()};
    }
    /// Reserves fences: the first acquisition from a file needs this commit.
    void reserve_fences() {
        must(PushJob{"fences", "first", now});
        must(AckJob{must(AcquireJobs{"fences", worker}).leases.at(0)});
    }
    void publish(std::string message) { must(event(std::move(message))); }

    /// A step that pushes a job into the queue `work`.
    [[nodiscard]] PushJob job(std::string name) const { return {"work", std::move(name), now}; }

    [[nodiscard]] SubscriberStatus status(const std::string& token) {
        return must(FindSubscriber{token}).value();
    }
    [[nodiscard]] QueueStatus queue(const std::string& name) { return must(CountJobs{name}); }

    /// Delivers all batches of all subscribers. Returns the messages in the order of arrival.
    std::vector<std::string> drain() {
        std::vector<std::string> messages;
        while (true) {
            const auto acquired = must(AcquireJobs{delivery_queue, worker, 1'000});
            if (acquired.leases.empty()) return messages;
            for (const auto& lease : acquired.leases) {
                const auto start = must(BeginDelivery{lease, Duration{0}});
                if (start.verdict != Verdict::deliver) continue;
                for (const auto message : start.messages) messages.emplace_back(message);
                must(SettleDelivery{.lease = lease, .delivered = true, .begun_at = now});
            }
        }
    }

    TemporaryFolder folder;
    std::filesystem::path file = folder.path() / "bus.db";
    TimePoint now = from_milliseconds(1'700'000'000'000);
    UidSource uids{0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U};
    Uid worker{1, 1};
    std::optional<EmbeddedStore> store;
};

/// `first` to `last` as texts.
inline std::vector<std::string> numbers(int first, int last) {
    std::vector<std::string> all;
    for (int n = first; n <= last; ++n) all.push_back(std::to_string(n));
    return all;
}

/// One line of text, to make the difference visible in a failed check.
inline std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const auto& text : texts) all.append(all.empty() ? "" : " ").append(text);
    return all;
}

/// Acquires the next job of the queue `work`.
inline Lease take(FileScene& scene) {
    return scene.must(AcquireJobs{"work", scene.worker, 1}).leases.at(0);
}

}  // namespace routemaster::test
