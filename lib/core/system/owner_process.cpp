#include "core/system/owner_process.hpp"

#include <unistd.h>

#include <new>
#include <string>
#include <vector>

#include "core/system/fork_count.hpp"

namespace routemaster::detail {

OwnerProcess::OwnerProcess(const char* object, const char* made, const char* make)
    : forks_{fork_count()}, id_{getpid()}, object_{object}, made_{made}, make_{make} {}

bool OwnerProcess::is_this() const noexcept { return forks_ == fork_count(); }

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
