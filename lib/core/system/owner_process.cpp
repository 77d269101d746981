#include "core/system/owner_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>
#include <vector>

namespace routemaster::detail {
namespace {

/// How often this process and its ancestors were forked, since the first object was made.
constinit std::atomic<std::uint32_t> forks{0};

/// The count of this process. Counting costs a child one addition, and asking for the process id
/// would cost each call of a store a system call.
std::uint32_t count_of_this_process() {
    static const int failed =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    if (failed != 0) throw std::bad_alloc{};
    return forks.load(std::memory_order_relaxed);
}

}  // namespace

OwnerProcess::OwnerProcess(const char* object, const char* made, const char* make)
    : forks_{count_of_this_process()}, id_{getpid()}, object_{object}, made_{made}, make_{make} {}

bool OwnerProcess::is_this() const noexcept {
    return forks_ == forks.load(std::memory_order_relaxed);
}

Error OwnerProcess::refusal(std::string_view object) const {
    return {Errc::invalid, std::string{object} + ": " + made_ + " by process " +
                               std::to_string(id_) + "; " + make_ + " it after fork"};
}

void OwnerProcess::require_at_return() const noexcept {
    const auto end = [this] {
        throw Failure{{Errc::invalid, std::string{object_} +
                                          ": a forked child returned from a handler of process " +
                                          std::to_string(id_) + "; end the child with _exit"}};
    };
    if (!is_this()) end();
}

void keep_reachable(void* memory) noexcept {
    static auto* const kept = new std::vector<void*>;
    try {
        kept->push_back(memory);
    } catch (const std::bad_alloc&) {
        return;
    }
}

}  // namespace routemaster::detail
