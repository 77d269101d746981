#include "name_resolver.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/system/thread.hpp"
#include "routemaster/error.hpp"
#include "shortage.hpp"
#include "this_machine.hpp"

namespace routemaster::detail {

namespace {

using Clock = std::chrono::steady_clock;

std::string address_list(const addrinfo* first) {
    constexpr int addresses_max = 16;
    std::string list;
    int count = 0;
    for (; first != nullptr && count < addresses_max; first = first->ai_next) {
        const std::string text = address_text(*first->ai_addr);
        if (text.empty()) continue;
        if (++count > 1) list.push_back(',');
        list.append(first->ai_family == AF_INET6 ? "[" + text + "]" : text);
    }
    return list;
}

/// Returns the error if the process cannot open a descriptor now. `getaddrinfo` does not report
/// this.
std::error_code shortage() {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return {errno, std::generic_category()};
    close(socket);
    return {};
}

Result<Addresses> ask_system(const std::string& name) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    errno = 0;
    const int code = getaddrinfo(name.c_str(), nullptr, &hints, &first);
    std::error_code error{errno, std::generic_category()};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{first, [](addrinfo* list) {
                                                                 if (list) freeaddrinfo(list);
                                                             }};
    std::string list = code == 0 ? address_list(first) : "";
    if (!list.empty()) return std::make_shared<const std::string>(std::move(list));
    const std::string reason = code == EAI_SYSTEM ? error.message()
                               : code == 0        ? "no IPv4 or IPv6 address"
                                                  : gai_strerror(code);
    if (!is_shortage(error)) error = shortage();
    if (is_shortage(error)) return Error{error, "cannot resolve " + name};
    return Error{Errc::unavailable, "cannot resolve " + name + ": " + reason};
}

}  // namespace

struct NameResolver::Shared {
    struct Name {
        Addresses addresses{};
        Clock::time_point found_at{};
        Clock::time_point asked_at{};  ///< When `look_up` last requested a lookup.
        bool is_asked = false;
        bool has_failed = false;
    };
    Shared(NameResolverOptions with, Done done_with) : options{with}, done{std::move(done_with)} {}

    const NameResolverOptions options;
    const Done done;

    std::mutex mutex;  ///< Guards the members below. Also locked while `done` is called.
    std::condition_variable changed;
    std::map<std::string, Name> names;
    std::deque<std::string> fresh;
    std::deque<std::string> unanswered;  ///< Queue of names whose last lookup failed.
    std::size_t threads = 0;
    std::size_t idle = 0;
    std::size_t busy_with_unanswered = 0;
    bool stopping = false;

    static void work(const std::shared_ptr<Shared>& shared);

    [[nodiscard]] std::size_t waiting() const { return fresh.size() + unanswered.size(); }

    /// Queues a lookup, and starts a thread if needed. Returns false if there is no thread and none
    /// can be started.
    static bool ask(const std::shared_ptr<Shared>& shared, const std::string& name, Name& known) {
        auto& queue = known.has_failed ? shared->unanswered : shared->fresh;
        queue.push_back(name);
        known.is_asked = true;
        if (shared->waiting() > shared->idle && shared->threads < shared->options.threads_max) {
            try {
                start_thread([shared] { work(shared); }).detach();
                ++shared->threads;
            } catch (const Failure&) {
                if (shared->threads == 0) {
                    queue.pop_back();
                    known.is_asked = false;
                }
            }
        }
        shared->changed.notify_one();
        return known.is_asked;
    }

    /// Evicts the oldest name if the cache is full. Returns false if all names are being looked up.
    bool make_place() {
        if (names.size() < options.names_max) return true;
        const auto older = [](const auto& a, const auto& b) {
            return std::pair{a.second.is_asked, a.second.asked_at} <
                   std::pair{b.second.is_asked, b.second.asked_at};
        };
        const auto oldest = std::min_element(names.begin(), names.end(), older);
        if (oldest->second.is_asked) return false;
        names.erase(oldest);
        return true;
    }

    /// Dequeues the next name for a lookup. The second value says whether the last lookup of the
    /// name failed. Lookups of such names occupy at most half of the threads, and the other threads
    /// look up other names. Returns nothing if no lookup may begin now.
    std::optional<std::pair<std::string, bool>> next() {
        const bool may_retry =
            busy_with_unanswered < std::max<std::size_t>(options.threads_max / 2, 1);
        while (!fresh.empty() || (may_retry && !unanswered.empty())) {
            const bool is_unanswered = fresh.empty();
            auto& queue = is_unanswered ? unanswered : fresh;
            std::string name = std::move(queue.front());
            queue.pop_front();
            Name& known = names.at(name);
            if (Clock::now() - known.asked_at <= options.timeout) return {{name, is_unanswered}};
            known.is_asked = false;  // All requests that waited for the name have timed out.
        }
        return std::nullopt;
    }

    void keep(const std::string& name, const Result<Addresses>& found) {
        Name& known = names.at(name);
        known.is_asked = false;
        known.has_failed = !found;
        if (found) {
            known.addresses = *found;
            known.found_at = Clock::now();
        }
        done(name, found);
    }
};

/// Loop of a thread, which ends after some idle time.
void NameResolver::Shared::work(const std::shared_ptr<Shared>& shared) {
    constexpr std::chrono::seconds idle_max{10};
    std::unique_lock lock{shared->mutex};
    while (!shared->stopping) {
        if (const auto job = shared->next()) {
            const auto& [name, is_unanswered] = *job;
            shared->busy_with_unanswered += is_unanswered ? 1U : 0U;
            lock.unlock();
            const Result<Addresses> found = ask_system(name);
            lock.lock();
            shared->busy_with_unanswered -= is_unanswered ? 1U : 0U;
            if (!shared->stopping) shared->keep(name, found);
            continue;
        }
        ++shared->idle;
        const auto outcome = shared->changed.wait_for(lock, idle_max);
        --shared->idle;
        if (outcome == std::cv_status::timeout && shared->waiting() == 0) break;
    }
    --shared->threads;
}

NameResolver::NameResolver(NameResolverOptions options, Done done)
    : shared_{std::make_shared<Shared>(options, std::move(done))} {}

NameResolver::~NameResolver() {
    const std::lock_guard lock{shared_->mutex};
    shared_->stopping = true;
    shared_->changed.notify_all();
}

std::optional<Result<Addresses>> NameResolver::look_up(const std::string& name) {
    const std::lock_guard lock{shared_->mutex};
    if (!shared_->names.contains(name) && !shared_->make_place()) {
        return Error{Errc::unavailable,
                     "cannot resolve " + name + ": too many names wait to be resolved"};
    }
    Shared::Name& known = shared_->names[name];
    const auto now = Clock::now();
    const auto age = now - known.found_at;
    if (known.addresses && age < shared_->options.fresh_for) return known.addresses;
    known.asked_at = now;
    if (!known.is_asked && !Shared::ask(shared_, name, known)) {
        return Error{Errc::unavailable, "cannot resolve " + name + ": no thread can be started"};
    }
    if (known.addresses && age < shared_->options.usable_for) return known.addresses;
    return std::nullopt;
}

}  // namespace routemaster::detail
