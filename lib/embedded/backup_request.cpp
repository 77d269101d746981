#include "backup_request.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/system/file_descriptor.hpp"
#include "core/system/thread.hpp"
#include "file_claim.hpp"
#include "real_path.hpp"

namespace routemaster::embedded {
namespace {

using detail::FileDescriptor;

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds answer_poll{20};
constexpr std::chrono::seconds lock_wait{1};
constexpr std::chrono::seconds begin_wait{10};
constexpr std::chrono::seconds owner_poll{1};
constexpr std::size_t request_bytes_max = 8192;

std::filesystem::path request_of(const std::filesystem::path& journal) {
    return journal.string() + "-backup";
}

std::string read_all(const FileDescriptor& file) {
    std::array<char, request_bytes_max> bytes{};
    const auto count = ::pread(file.get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

/// Appends a line in a single write, so that the requester never reads a partial line. A failed
/// write is ignored: the requester checks whether this process is still running.
void append(const FileDescriptor& file, std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    line.push_back('\n');
    (void)!::write(file.get(), line.data(), line.size());
}

Error cannot_ask(const std::filesystem::path& request, int number) {
    return {Errc::unavailable, request.string() + ": cannot request a backup: " +
                                   std::generic_category().message(number)};
}

/// The id of another process that has the journal open, taken from the lock that SQLite has on the
/// journal (https://sqlite.org/src/file/src/os.h, "locking"). 0 if the process is not visible from
/// here, as from inside a container. Nothing if no process has the journal open. Throws `Failure`
/// if this process has the journal open.
std::optional<pid_t> user_of(const std::filesystem::path& journal) {
    // When a process closes any descriptor of a file, POSIX ends all its locks on the file. The
    // claim fails if this process has the journal open, and then the file is not opened here.
    const FileClaim claim{journal};
    const FileDescriptor file{::open(journal.c_str(), O_RDWR | O_CLOEXEC)};
    if (!file) throw Failure{cannot_ask(journal, errno)};
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000000;
    lock.l_len = 512;
    if (::fcntl(file.get(), F_GETLK, &lock) != 0) throw Failure{cannot_ask(journal, errno)};
    return lock.l_type == F_UNLCK ? std::nullopt : std::optional{lock.l_pid};
}

/// The user of the process that has the journal open. If the process is not visible, the owner of
/// the journal, which is most likely the same user.
std::optional<uid_t> runs_as(pid_t user, const std::filesystem::path& journal) {
    struct stat about {};
    const auto process = "/proc/" + std::to_string(user);
    if (user > 0 && ::stat(process.c_str(), &about) == 0) return about.st_uid;
    if (::stat(journal.c_str(), &about) == 0) return about.st_uid;
    return std::nullopt;
}

std::string what_is(const struct stat& about) {
    if (S_ISDIR(about.st_mode)) return "a folder";
    if (S_ISLNK(about.st_mode)) return "a symbolic link";
    if (S_ISFIFO(about.st_mode)) return "a FIFO";
    if (S_ISSOCK(about.st_mode)) return "a socket";
    if (S_ISREG(about.st_mode)) return "a file with a second name";
    return "a device";
}

/// The request file of the requesting process, which locks the file with flock, and thereby
/// excludes concurrent requesters.
class Request {
public:
    /// Throws `Failure`.
    Request(const std::filesystem::path& journal, pid_t user, const std::filesystem::path& target)
        : path_{request_of(journal)} {
        const auto deadline = SteadyClock::now() + lock_wait;
        while (!lock()) {
            if (SteadyClock::now() > deadline) {
                throw Failure{
                    {Errc::unavailable, journal.string() + ": another backup is under way"}};
            }
            std::this_thread::sleep_for(answer_poll);
        }
        if (::geteuid() == 0) give_to(runs_as(user, journal));
        asked_ = target.string() + '\n';
        const auto written = ::pwrite(file_.get(), asked_.data(), asked_.size(), 0);
        if (written == static_cast<ssize_t>(asked_.size())) return;
        const int number = written < 0 ? errno : ENOSPC;
        ::unlink(path_.c_str());
        throw Failure{cannot_ask(path_, number)};
    }
    ~Request() { ::unlink(path_.c_str()); }

    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    [[nodiscard]] std::string reply() const {
        auto text = read_all(file_);
        text.erase(0, asked_.size());
        text.erase(text.rfind('\n') + 1);
        return text;
    }

private:
    bool lock() {
        look_for_others();
        file_ = FileDescriptor{
            ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)};
        if (!file_) throw Failure{cannot_ask(path_, errno)};
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return false;
        // The previous requester may have removed the file before this process locked it. The
        // caller then tries again.
        struct stat locked {};
        struct stat found {};
        if (::fstat(file_.get(), &locked) != 0 || ::stat(path_.c_str(), &found) != 0 ||
            locked.st_ino != found.st_ino) {
            return false;
        }
        // The path may have been replaced by a link or device, which must not be overwritten.
        if (!S_ISREG(locked.st_mode) || locked.st_nlink != 1) return false;
        if (::ftruncate(file_.get(), 0) != 0) throw Failure{cannot_ask(path_, errno)};
        return true;
    }

    /// Throws if the path is used by anything but a regular file with a single name.
    void look_for_others() const {
        struct stat about {};
        if (::lstat(path_.c_str(), &about) != 0) return;
        if (S_ISREG(about.st_mode) && about.st_nlink == 1) return;
        throw Failure{
            {Errc::unavailable, path_.string() + ": " + what_is(about) +
                                    " is in the place of the request for backups; remove it"}};
    }

    /// Makes the other process' user the owner of the file, because root may request a backup from
    /// a process of any user.
    void give_to(std::optional<uid_t> user) const {
        if (user && ::fchown(file_.get(), *user, static_cast<gid_t>(-1)) == 0) return;
        const int number = errno;
        ::unlink(path_.c_str());
        throw Failure{cannot_ask(path_, number)};
    }

    std::filesystem::path path_;
    FileDescriptor file_;
    std::string asked_;
};

/// Parses the result in the last line of a reply. Nothing while the reply is incomplete.
std::optional<Result<EmbeddedBackup>> outcome_of(const std::string& reply) {
    std::istringstream lines{reply};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string word;
        words >> word;
        if (word == "done") {
            EmbeddedBackup size;
            words >> size.rows >> size.bytes;
            return size;
        }
        if (word == "failed") {
            int code = 0;
            words >> code >> std::ws;
            std::string text;
            std::getline(words, text);
            return Error{static_cast<Errc>(code), std::move(text)};
        }
    }
    return std::nullopt;
}

}  // namespace

// --- The process that has the journal open -------------------------------------------------------

BackupRequests::BackupRequests(const std::filesystem::path& journal, MakeBackup make, Log log)
    : path_{request_of(journal)}, make_{std::move(make)}, log_{std::move(log)} {}

BackupRequests::~BackupRequests() = default;

void BackupRequests::look() {
    if (busy_) return;
    FileDescriptor request{
        ::open(path_.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!request) return;
    struct stat about {};
    if (::fstat(request.get(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    if (about.st_uid != ::geteuid() && about.st_uid != 0) return;
    if (::flock(request.get(), LOCK_SH | LOCK_NB) == 0) return;
    auto text = read_all(request);
    if (text.empty() || text.find('\n') != text.size() - 1) return;
    text.pop_back();
    busy_ = true;
    copying_ = detail::start_thread<std::jthread>(
        [this, target = std::filesystem::path{std::move(text)},
         request = std::move(request)](const std::stop_token& stop) {
            append(request, "begun");
            const auto made = make_(target, stop);
            if (made) {
                append(request,
                       "done " + std::to_string(made->rows) + ' ' + std::to_string(made->bytes));
                if (log_) log_(LogLevel::info, "backed up to " + target.string());
            } else {
                const auto& error = made.error();
                append(request,
                       "failed " + std::to_string(error.code().value()) + ' ' + error.context());
                if (log_) log_(LogLevel::warning, "cannot back up: " + error.message());
            }
            busy_ = false;
        });
}

// --- The requester -------------------------------------------------------------------------------

std::optional<Result<EmbeddedBackup>> ask_for_backup(const std::filesystem::path& named,
                                                     const std::filesystem::path& target) {
    const auto file = real_path(named);
    try {
        const auto user = user_of(file);
        if (!user) return std::nullopt;
        const Request request{file, *user, target};
        const auto asked_at = SteadyClock::now();
        auto looked_at = asked_at;
        while (true) {
            std::this_thread::sleep_for(answer_poll);
            const auto reply = request.reply();
            if (auto outcome = outcome_of(reply)) return outcome;
            const auto now = SteadyClock::now();
            if (reply.empty() && now - asked_at > begin_wait) {
                return Error{Errc::unavailable,
                             file.string() +
                                 ": the process that uses it does not answer; it must be of this "
                                 "version, and run as the same user"};
            }
            if (now - looked_at < owner_poll) continue;
            looked_at = now;
            if (!user_of(file)) return std::nullopt;
        }
    } catch (const Failure& failure) {
        return failure.error();
    }
}

}  // namespace routemaster::embedded
