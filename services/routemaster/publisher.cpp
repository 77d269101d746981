#include "publisher.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace routemaster::service {

/// A connection with a queue of lines, and a thread that sends them.
struct Publisher::OrderingGroup {
    static constexpr std::size_t queue_max = 256;

    explicit OrderingGroup(const BusSettings& settings) : client{settings} {}

    void put(Line line) {
        std::unique_lock lock{mutex};
        changed.wait(lock, [this] { return queue.size() < queue_max; });
        queue.push_back(std::move(line));
        changed.notify_all();
    }

    /// Waits for the next line. Returns nothing if the queue is empty and closed.
    std::optional<Line> take() {
        std::unique_lock lock{mutex};
        changed.wait(lock, [this] { return !queue.empty() || closed; });
        if (queue.empty()) return std::nullopt;
        auto line = std::move(queue.front());
        queue.pop_front();
        changed.notify_all();
        return line;
    }

    void close() {
        const std::lock_guard lock{mutex};
        closed = true;
        changed.notify_all();
    }

    std::mutex mutex;  // Guards `queue` and `closed`.
    std::condition_variable changed;
    std::deque<Line> queue;
    bool closed = false;
    BusClient client;
    std::jthread thread;
};

Publisher::Publisher(const BusSettings& settings, std::size_t connections, bool by_topic)
    : by_topic_{by_topic} {
    for (std::size_t i = 0; i < connections; ++i) {
        groups_.push_back(std::make_unique<OrderingGroup>(settings));
    }
    for (auto& group : groups_) {
        group->thread = std::jthread{[this, &each = *group] { work(each); }};
    }
}

Publisher::~Publisher() { finish(); }

bool Publisher::publish(Line line) {
    {
        const std::lock_guard lock{mutex_};
        if (unreachable_) return false;
    }
    const auto group = by_topic_ ? std::hash<std::string>{}(line.topic) : next_group_++;
    groups_[group % groups_.size()]->put(std::move(line));
    return true;
}

void Publisher::reject(std::uint64_t number, const std::string& why) { fail(number, why); }

std::vector<FailedLine> Publisher::take_failed() {
    std::vector<FailedLine> failed;
    {
        const std::lock_guard lock{mutex_};
        failed.swap(failed_);
    }
    std::sort(failed.begin(), failed.end(),
              [](const FailedLine& a, const FailedLine& b) { return a.number < b.number; });
    return failed;
}

PublishTotals Publisher::finish() {
    for (auto& group : groups_) group->close();
    for (auto& group : groups_) {
        if (group->thread.joinable()) group->thread.join();
    }
    return totals();
}

PublishTotals Publisher::totals() const {
    const std::lock_guard lock{mutex_};
    return totals_;
}

void Publisher::work(OrderingGroup& group) {
    while (const auto line = group.take()) send(group.client, *line);
}

void Publisher::send(BusClient& client, const Line& line) {
    {
        const std::lock_guard lock{mutex_};
        if (unreachable_) {
            ++totals_.failed;
            return;
        }
    }
    const auto answer = client.ask("POST", "/topics/" + line.topic, line.body);
    if (!answer) return fail_all(line.number, answer.error().context());
    if (!answer->accepted()) return fail(line.number, answer->refusal());
    const std::lock_guard lock{mutex_};
    ++totals_.published;
}

void Publisher::fail(std::uint64_t number, std::string why) {
    const std::lock_guard lock{mutex_};
    ++totals_.failed;
    failed_.push_back({number, std::move(why)});
}

/// Records that the bus is unreachable, so no further lines are sent. Only this line gets the
/// error.
void Publisher::fail_all(std::uint64_t number, std::string why) {
    const std::lock_guard lock{mutex_};
    ++totals_.failed;
    if (!std::exchange(unreachable_, true)) failed_.push_back({number, std::move(why)});
}

}  // namespace routemaster::service
