/// @file
/// A journal on a disk that loses power, fills up and fails, as a world decides.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "embedded/journal.hpp"
#include "routemaster/error.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"

namespace routemaster::simulation {

/// Keeps each row as bytes with their number, length and checksum, so that a row of which power
/// loss left only a part is found out when it is read: then it is the end of the journal, and was
/// never acknowledged. What `append` returned success for stays. Not thread safe.
class SimulatedJournal final : public embedded::Journal {
public:
    /// Forgets rows when there are so many to forget.
    SimulatedJournal(Random random, std::uint64_t forgotten_min)
        : random_{random}, forgotten_min_{forgotten_min} {}

    Result<void> read(const Reader& each) override;
    Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) override;
    Result<std::string> fetch(std::uint64_t row) override;
    Result<bool> shrink() override { return false; }
    Result<void> probe() override;
    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

    /// What power loss leaves of a row that was being written.
    enum class Remains { nothing, part, all };

    /// Power is lost while `changes` are being written.
    void lose_power(std::string_view changes, Remains remains);

    /// The next append fails, for `reason`; all that follow do so too until `heal`, if `for_good`.
    void fail(std::string reason, bool for_good);
    /// Nothing can be read until `heal`.
    void fail_reads() { unreadable_ = true; }
    /// Whether reading has failed since this was asked last.
    [[nodiscard]] bool take_failed_reads();
    void heal();

private:
    [[nodiscard]] static Error unreadable();
    [[nodiscard]] static std::string framed(std::uint64_t row, std::string_view changes);
    [[nodiscard]] static std::optional<std::string_view> unframed(std::uint64_t row,
                                                                  std::string_view frame);
    void drop_torn_tail();

    Random random_;
    std::uint64_t forgotten_min_;
    std::deque<std::string> frames_;
    std::uint64_t first_row_ = 1;
    std::uint64_t last_row_ = 0;
    std::uint64_t bytes_ = 0;
    bool torn_ = false;  // The last frame is a part of one.
    std::optional<std::string> failure_;
    bool for_good_ = false;
    bool unreadable_ = false;
    bool read_failed_ = false;
};

}  // namespace routemaster::simulation
