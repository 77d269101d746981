#include "routemaster/store/embedded_file.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "backup.hpp"
#include "backup_request.hpp"
#include "core/state/machine.hpp"
#include "journal_file.hpp"
#include "journal_writer.hpp"
#include "replay.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/value.hpp"

namespace routemaster {
namespace {

using embedded::JournalFile;

/// Limit of payload bytes in memory while a file is being read.
constexpr std::uint64_t memory_max = 64U << 20U;

constexpr std::size_t damage_reported_max = 100;

class Reading {
public:
    explicit Reading(const std::filesystem::path& file)
        : journal_{file, embedded::DamagedLog::reported},
          rows_{journal_},
          writer_{0, memory_max, rows_},
          machine_{writer_} {
        if (journal_.damage()) report_damage(*journal_.damage());
        for (auto& problem : journal_.problems()) report_damage(std::move(problem));
        const auto [first, last] = journal_.extent().value();
        for (auto row = first; first != 0 && row <= last; ++row) read(row);
        report_unread();
        machine_.settle_restored();
        if (damage_ > damage_reported_max) {
            report.damage.push_back(std::to_string(damage_) + " problems in all");
        }
    }

    [[nodiscard]] detail::Machine& machine() noexcept { return machine_; }
    [[nodiscard]] detail::ChangeLog& changes() noexcept { return writer_; }

    EmbeddedFileReport report;

private:
    void read(std::uint64_t row) {
        const auto changes = journal_.fetch(row);
        if (!changes) return note_unread(row, changes.error().context());
        report_unread();
        ++report.rows;
        report.bytes += changes->size();
        auto replayed = embedded::replay(*changes, row, machine_, writer_);
        writer_.evict(row);
        if (replayed) return;
        report_damage("row " + std::to_string(row) + ": " + replayed.error().context());
    }

    /// Records an unreadable row. Consecutive rows with equal errors become one line of the report.
    void note_unread(std::uint64_t row, const std::string& why) {
        if (unread_ && why != unread_->why) report_unread();
        if (!unread_) unread_ = Unread{row, row, why};
        unread_->last = row;
    }

    void report_unread() {
        const auto unread = std::exchange(unread_, std::nullopt);
        if (!unread) return;
        const auto which =
            unread->first == unread->last
                ? "row " + std::to_string(unread->first)
                : "rows " + std::to_string(unread->first) + " to " + std::to_string(unread->last);
        const bool named = unread->why.find(": row ") != std::string::npos;
        report_damage(named ? unread->why : which + ": " + unread->why);
    }

    void report_damage(std::string what) {
        if (++damage_ <= damage_reported_max) report.damage.push_back(std::move(what));
    }

    JournalFile journal_;
    embedded::RowCache rows_;
    embedded::JournalWriter writer_;
    detail::Machine machine_;
    struct Unread {
        std::uint64_t first;
        std::uint64_t last;
        std::string why;
    };
    std::optional<Unread> unread_;
    std::size_t damage_ = 0;
};

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

Value optional_text(const std::optional<std::string>& text) {
    return text ? Value{*text} : Value{};
}

class Listing {
public:
    Listing(Reading& reading, const JsonLine* each) : reading_{reading}, each_{each} {}

    void list() {
        auto& machine = reading_.machine();
        auto& report = reading_.report;
        const Page all{.limit = UINT32_MAX};
        for (const auto& topic : machine.registry().topics(all)) {
            ++report.topics;
            print("topic", [&] { return of(topic); });
        }
        for (const auto& subscriber : machine.registry().subscribers(all)) {
            ++report.subscribers;
            print("subscriber", [&] { return of(subscriber); });
        }
        for (const auto& token : machine.registry().tokens(all)) {
            ++report.tokens;
            print("token", [&] {
                return Value::Map{{"token", token.token}, {"name", token.name}};
            });
        }
        machine.subscriber_queues().each([&](const detail::BatchState& batch) {
            ++report.batches;
            if (batch.death != nullptr) ++report.dead;
            report.events += batch.messages.size();
            if (each_ != nullptr) print(batch);
        });
        machine.jobs().each([&](detail::JobState& job) {
            ++report.jobs;
            print("job", [&] { return of(job); });
        });
        machine.timers().each([&](const detail::StoredTimer& timer) {
            ++report.timers;
            print("timer", [&] { return of(timer); });
        });
        for (const auto& counter : machine.counters().list(all)) {
            ++report.counters;
            print("counter", [&] { return of(counter); });
        }
    }

private:
    template <class Make>
    void print(const char* kind, Make make) {
        if (each_ == nullptr) return;
        std::string line;
        append_json(line, Value{Value::Map{{kind, Value{make()}}}});
        (*each_)(line);
    }

    static Value::Map of(const Topic& topic) {
        return {{"name", topic.name},
                {"publisher", optional_text(topic.publisher)},
                {"events", topic.events}};
    }

    static Value::Map of(const SubscriberStatus& status) {
        const auto& subscription = status.subscription;
        const auto& attempted = status.last_attempted_at;
        Value::Array topics;
        for (const auto& topic : status.topics) topics.emplace_back(topic);
        return {{"token", subscription.token},
                {"callback", subscription.callback},
                {"uuid", subscription.uuid},
                {"timeout", subscription.timeout.count()},
                {"max_events", subscription.max_events},
                {"max_in_flight", subscription.max_in_flight},
                {"attempts_max", subscription.attempts_max},
                {"age_max", subscription.age_max.count()},
                {"dead_max", subscription.dead_max},
                {"health_points", status.health_points},
                {"last_attempted_at", attempted ? Value{to_milliseconds(*attempted)} : Value{}},
                {"topics", std::move(topics)}};
    }

    /// Prints a batch. The events are appended as text, because they are already encoded as JSON.
    void print(const detail::BatchState& batch) {
        const auto body = delivery_body(batch.messages.resident() ? batch.messages.list()
                                                                  : reading_.changes().read(batch));
        Value::Map entry{{"uid", batch.uid.text()},
                         {"subscriber", batch.subscriber_queue.group.name},
                         {"created_at", to_milliseconds(batch.created_at)},
                         {"attempts", batch.attempts}};
        if (batch.death != nullptr) {
            entry.emplace_back("died_at", to_milliseconds(batch.death->at));
            entry.emplace_back("error", batch.death->error);
        }
        entry.emplace_back("undecodable", body.undecodable);
        std::string line{R"({"batch":)"};
        append_json(line, Value{std::move(entry)});
        line.pop_back();
        line.append(R"(,"events":)").append(body.json).append("}}");
        (*each_)(line);
    }

    Value::Map of(detail::JobState& job) {
        const std::string bytes =
            job.payload.resident() ? std::string{job.payload.text()} : reading_.changes().read(job);
        Value::Map entry{{"queue", job.queue.name}, {"run_at", to_milliseconds(job.run_at)}};
        const auto decoded = decode_job(bytes);
        if (decoded) {
            entry.emplace_back("name", decoded->name);
            entry.emplace_back("arguments", Value{decoded->arguments});
        } else {
            entry.emplace_back("hex", hex(bytes));
        }
        return entry;
    }

    static Value::Map of(const detail::StoredTimer& timer) {
        constexpr std::array states{"PENDING", "FIRED", "DEAD"};
        auto status = detail::TimerTable::status_of(timer);
        Value::Map entry{{"namespace", timer.space.name},
                         {"id", std::move(status.id)},
                         {"payload", std::move(status.payload)},
                         {"state", states.at(static_cast<std::size_t>(status.state))},
                         {"at", to_milliseconds(status.at)},
                         {"retries", status.retries},
                         {"retries_max", status.retries_max}};
        if (!status.reason.empty()) entry.emplace_back("reason", std::move(status.reason));
        return entry;
    }

    static Value::Map of(const Counter& counter) {
        Value::Map tags;
        for (const auto& [tag, value] : counter.key.tags) {
            tags.emplace_back(tag, optional_text(value));
        }
        return {{"name", counter.key.name}, {"tags", std::move(tags)}, {"value", counter.value}};
    }

    Reading& reading_;
    const JsonLine* each_;
};

Result<void> must_exist(const std::filesystem::path& file) {
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) {
        return Error{Errc::unavailable, file.string() + ": there is no such file"};
    }
    if (std::filesystem::is_directory(file, failed)) {
        return Error{Errc::invalid, file.string() + ": is a folder; name a file in it"};
    }
    if (std::filesystem::file_size(file, failed) == 0 && !failed) {
        return Error{Errc::invalid, file.string() + ": is empty"};
    }
    return {};
}

Result<EmbeddedFileReport> look_into(const std::filesystem::path& file, const JsonLine* each) {
    if (auto there = must_exist(file); !there) return there.error();
    try {
        Reading reading{file};
        Listing{reading, each}.list();
        return std::move(reading.report);
    } catch (const Failure& failure) {
        return failure.error();
    }
}

}  // namespace

Result<EmbeddedFileReport> check_embedded_file(const std::filesystem::path& file) {
    return look_into(file, nullptr);
}

Result<EmbeddedFileReport> export_embedded_file(const std::filesystem::path& file,
                                                const JsonLine& each) {
    return look_into(file, &each);
}

Result<EmbeddedBackup> backup_embedded_file(const std::filesystem::path& file,
                                            const std::filesystem::path& target) {
    if (auto there = must_exist(file); !there) return there.error();
    // A backup request contains the path of the target as a single line.
    if (target.native().find('\n') != std::string::npos) {
        return Error{Errc::invalid, "the name of a backup must not contain a line feed"};
    }
    std::error_code unknown;
    const auto whole = std::filesystem::absolute(target, unknown);
    // First requests the backup from another process, which may have the file open.
    if (auto answered = embedded::ask_for_backup(file, whole)) return *std::move(answered);
    try {
        JournalFile journal{file};
        if (auto begun = journal.begin(); !begun) return begun.error();
        journal.read([](std::uint64_t, std::string_view) { return Result<void>{}; }).value();
        return embedded::back_up(journal, whole);
    } catch (const Failure& failure) {
        return failure.error();
    }
}

}  // namespace routemaster
