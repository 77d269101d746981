#include "support/node.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "routemaster/codec/json.hpp"

namespace routemaster::test {
namespace {

namespace fs = std::filesystem;

const fs::path source{ROUTEMASTER_NODE_SOURCE};
const fs::path installed{ROUTEMASTER_NODE_FOLDER};

std::string content(const fs::path& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

bool runs(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// A file lock. Tests run in parallel, but only one may install the packages.
class Turn {
public:
    explicit Turn(const fs::path& file)
        : file_{::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)} {
        if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) throw std::runtime_error{"cannot lock"};
    }
    ~Turn() { ::close(file_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    int file_;
};

/// Installs the packages. Returns false when npm fails.
bool install() {
    fs::create_directories(installed);
    const Turn turn{installed / "lock"};
    const auto lock = content(source / "package-lock.json");
    const auto mark = installed / "node_modules" / "installed-lock.json";
    for (const auto& file : fs::directory_iterator{source}) {
        fs::copy_file(file, installed / file.path().filename(),
                      fs::copy_options::overwrite_existing);
    }
    if (content(mark) == lock) return true;
    if (!runs("cd '" + installed.string() +
              "' && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 "
              "--fetch-timeout=10000")) {
        return false;
    }
    std::ofstream{mark} << lock;
    return true;
}

std::string settings_json(const RedisServer& server, const NodeSettings& settings) {
    return R"({"port":)" + std::to_string(server.port()) + R"(,"ns":")" + settings.space +
           R"(","id":")" + settings.id + R"(","confirm":)" +
           (settings.confirms ? "true" : "false") + R"(,"confTimeout":)" +
           std::to_string(settings.confirm_seconds) + R"(,"maxEvents":)" +
           std::to_string(settings.events_max) + "}";
}

}  // namespace

bool has_node() {
    static const bool found = [] {
        if (!runs("command -v node && command -v npm")) {
            MESSAGE("left out: npm is not installed; scripts/setup --dev installs it");
            return false;
        }
        const bool is_there = install();
        if (!is_there) MESSAGE("left out: npm ci fails in " << installed.string());
        return is_there;
    }();
    return found;
}

std::string NodeEvent::id() const { return *event.find("id")->get_if<std::string>(); }

NodePeer::NodePeer(const RedisServer& server, NodeSettings settings)
    : server_{server},
      settings_{std::move(settings)},
      process_{{"node", (installed / "peer.mjs").string(), settings_json(server, settings_)}} {
    if (line().find("done") == nullptr) throw std::runtime_error{"the peer did not begin"};
}

Value NodePeer::call(const std::string& what, const std::string& words) {
    auto order = R"([")" + what + '"' + (words == "[]" ? "" : ",") + words.substr(1);
    server_.command({"RPUSH", "peer:" + settings_.id, std::move(order)});
    while (true) {
        const auto said = line();
        if (const auto* reply = said.find("done")) return *reply;
        if (const auto* failed = said.find("failed")) {
            throw std::runtime_error{*failed->get_if<std::string>()};
        }
    }
}

NodeEvent NodePeer::event() {
    while (events_.empty()) static_cast<void>(line());
    auto first = std::move(events_.front());
    events_.pop_front();
    return first;
}

std::optional<NodeEvent> NodePeer::event_so_far() {
    if (events_.empty()) return std::nullopt;
    return event();
}

void NodePeer::kill() {
    process_.signal(SIGKILL);
    static_cast<void>(process_.wait());
}

/// Reads the next line. Keeps events for `event`.
Value NodePeer::line() {
    auto said = parse_json(process_.line()).value();
    if (const auto* event = said.find("event")) {
        const auto at = *said.find("now")->get_if<std::int64_t>();
        events_.push_back({*event, from_milliseconds(at)});
    }
    return said;
}

}  // namespace routemaster::test
