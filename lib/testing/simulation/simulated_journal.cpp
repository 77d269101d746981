#include "simulated_journal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace routemaster::simulation {
namespace {

/// The header of a frame: the number of the row, the size of its changes in bytes, and a checksum.
using Head = std::array<std::uint64_t, 3>;

Head head_of(std::uint64_t row, std::string_view changes) {
    auto sum = scatter(row);
    for (const char byte : changes) {
        sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    }
    return {row, changes.size(), scatter(sum)};
}

}  // namespace

Error SimulatedJournal::unreadable() {
    return {Errc::unavailable, "simulated disk: input/output error"};
}

std::string SimulatedJournal::framed(std::uint64_t row, std::string_view changes) {
    const auto head = head_of(row, changes);
    std::string frame(sizeof head, '\0');
    std::memcpy(frame.data(), head.data(), sizeof head);
    return frame.append(changes);
}

std::optional<std::string_view> SimulatedJournal::unframed(std::uint64_t row,
                                                           std::string_view frame) {
    Head head{};
    if (frame.size() < sizeof head) return std::nullopt;
    std::memcpy(head.data(), frame.data(), sizeof head);
    const auto changes = frame.substr(sizeof head);
    return head == head_of(row, changes) ? std::optional{changes} : std::nullopt;
}

Result<void> SimulatedJournal::read(const Reader& each) {
    if (unreadable_) {
        read_failed_ = true;
        return unreadable();
    }
    bytes_ = 0;
    last_row_ = first_row_ - 1;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto row = first_row_ + i;
        const auto changes = unframed(row, frames_[i]);
        if (!changes && i + 1 == frames_.size()) {
            torn_ = true;
            break;
        }
        if (!changes) {
            return Error{Errc::corrupted, "simulated disk: row " + std::to_string(row)};
        }
        if (auto taken = each(row, *changes); !taken) return taken;
        last_row_ = row;
        bytes_ += changes->size();
    }
    drop_torn_tail();
    return {};
}

Result<void> SimulatedJournal::append(std::string_view changes, std::uint64_t needed, bool urgent) {
    drop_torn_tail();
    if (failure_) {
        Error error{Errc::unavailable, "simulated disk: " + *failure_};
        if (!for_good_) heal();
        if (random_.below(2) == 0) lose_power(changes, Remains::part);
        return error;
    }
    lose_power(changes, Remains::all);
    ++last_row_;
    bytes_ += changes.size();
    const auto garbage = needed - std::min(needed, first_row_);
    if (garbage < (urgent ? 1 : forgotten_min_)) return {};
    for (; first_row_ < needed; ++first_row_) {
        const auto forgotten = unframed(first_row_, frames_.front());
        bytes_ -= forgotten->size();
        frames_.pop_front();
    }
    return {};
}

Result<std::string> SimulatedJournal::fetch(std::uint64_t row) {
    if (unreadable_) return unreadable();
    if (row < first_row_ || row > last_row_) {
        return Error{Errc::corrupted, "simulated disk: no row " + std::to_string(row)};
    }
    return std::string{*unframed(row, frames_[row - first_row_])};
}

Result<void> SimulatedJournal::probe() {
    if (failure_ || unreadable_) return Error{Errc::unavailable, "simulated disk: still failing"};
    return {};
}

void SimulatedJournal::lose_power(std::string_view changes, Remains remains) {
    if (remains == Remains::nothing) return;
    drop_torn_tail();
    auto frame = framed(last_row_ + 1, changes);
    if (remains == Remains::part) {
        torn_ = true;
        frame.resize(random_.below(frame.size()));
    }
    frames_.push_back(std::move(frame));
}

void SimulatedJournal::fail(std::string reason, bool for_good) {
    failure_ = std::move(reason);
    for_good_ = for_good;
}

bool SimulatedJournal::take_failed_reads() { return std::exchange(read_failed_, false); }

void SimulatedJournal::heal() {
    failure_.reset();
    unreadable_ = false;
}

void SimulatedJournal::drop_torn_tail() {
    if (std::exchange(torn_, false)) frames_.pop_back();
}

}  // namespace routemaster::simulation
