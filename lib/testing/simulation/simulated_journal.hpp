/// @file
/// `SimulatedJournal`: a journal on a simulated disk that loses power, fills up and fails.

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

/// Journal that stores each row as bytes with number, length and checksum. `read` detects a row of
/// which a power failure wrote only a part. Such a row is the end of the journal, and was never
/// acknowledged. Rows for which `append` returned success are never lost. Not thread safe.
class SimulatedJournal final : public embedded::Journal {
public:
    /// Rows are deleted when at least `forgotten_min` of them are obsolete.
    SimulatedJournal(Random random, std::uint64_t forgotten_min)
        : random_{random}, forgotten_min_{forgotten_min} {}

    Result<void> read(const Reader& each) override;
    Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) override;
    Result<std::string> fetch(std::uint64_t row) override;
    Result<bool> shrink() override { return false; }
    Result<void> probe() override;
    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

    /// How much of a row is on disk when power fails during its write.
    enum class Remains { nothing, part, all };

    void lose_power(std::string_view changes, Remains remains);

    /// Makes the next append fail with `reason`. With `for_good`, all appends fail until `heal`.
    void fail(std::string reason, bool for_good);
    /// Makes all reads fail until `heal`.
    void fail_reads() { unreadable_ = true; }
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
    bool torn_ = false;  // The last frame is incomplete.
    std::optional<std::string> failure_;
    bool for_good_ = false;
    bool unreadable_ = false;
    bool read_failed_ = false;
};

}  // namespace routemaster::simulation
