/// @file
/// `RedisKeys`: the contents of a Redis server in a comparable form.

#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/redis_server.hpp"

namespace routemaster::test {

/// Keys and their values, with one line per entry. The order of entries counts in lists, but not in
/// sets and hashes.
class RedisKeys {
public:
    void set(const std::string& key, std::string member) {
        keys_[key].lines.push_back(std::move(member));
    }
    void hash(const std::string& key, const std::string& field, const std::string& value) {
        set(key, field + " = " + value);
    }
    void list(const std::string& key, std::string item) {
        auto& entry = keys_[key];
        entry.ordered = true;
        entry.lines.push_back(std::move(item));
    }

    /// All keys as text. Bytes that are not text are escaped.
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const auto& [key, entry] : keys_) all += key + '\n' + printable(sorted(entry).lines);
        return all;
    }

    /// Only data that steps return. Leaves out waiting workers, heartbeats of workers, the list of
    /// queues, rate limits and their buckets, deleted READY jobs, and values that mean the same as
    /// their absence.
    [[nodiscard]] RedisKeys actual() const {
        RedisKeys all;
        for (const auto& [key, entry] : keys_) {
            if (key == "workers" || key == "routemaster:scrubbed" || key == "routemaster:queues" ||
                key.starts_with("routemaster:waiting:") || key == "routemaster:limits" ||
                key.starts_with("routemaster:bucket:") || key.starts_with("routemaster:opens:") ||
                key.starts_with("routemaster:deleted:") ||
                key.starts_with("routemaster:serving:") || key.starts_with("routemaster:worker:") ||
                key.starts_with("routemaster:throughput:") ||
                key.starts_with("routemaster:isolated:") ||
                key.starts_with("jobs:pending:index:") || is_about_listeners(key)) {
                continue;
            }
            const bool gauges = key.starts_with("batches:gauges:");
            const bool batch = key.starts_with("routemaster:job_batch:");
            const bool subscriber = key.starts_with("subscriber:");
            const bool leases = key.starts_with("routemaster:leases:");
            Entry kept{entry.ordered};
            for (const auto& line : entry.lines) {
                if ((gauges || batch) && line.ends_with(" = 0")) continue;
                if (leases && line.starts_with("newest = ")) continue;
                if (leases && line.starts_with("cancelled = ")) continue;
                if (subscriber && line == "health_points = 100") continue;
                kept.lines.push_back(line);
            }
            for (const auto& family : {ready_, due_}) {
                if (key.starts_with(family)) drop_deleted(key.substr(family.size()), kept.lines);
            }
            if (kept.lines.empty()) continue;
            const bool called = key == "jobs:scheduled:main:callbacks";
            auto& lines = all.keys_[called ? "jobs:scheduled:main" : key];
            lines.ordered = kept.ordered;
            lines.lines.insert(lines.lines.end(), kept.lines.begin(), kept.lines.end());
        }
        return all;
    }

    /// The differences from `expected`, key by key; empty when the contents are equal.
    [[nodiscard]] std::string differences(const RedisKeys& expected) const {
        std::string all;
        auto keys = keys_;
        for (const auto& [key, ignored] : expected.keys_) keys.try_emplace(key);
        for (const auto& [key, ignored] : keys) {
            const auto is = part(key);
            const auto should = expected.part(key);
            if (is == should) continue;
            all += key + "\n  is\n" + printable(is) + "  should be\n" + printable(should);
        }
        return all;
    }

private:
    struct Entry {
        bool ordered = false;
        std::vector<std::string> lines{};
    };

    /// Listeners of timers, and the messages to them.
    static bool is_about_listeners(const std::string& key) {
        return key.ends_with(":gl") || key.ends_with(":ch") ||
               key.ends_with(":routemaster:listeners") || key.ends_with(":routemaster:turn");
    }

    inline static const std::string ready_{"jobs:instant:"};
    inline static const std::string due_{"routemaster:due:"};

    /// Removes the entries of deleted jobs. `about` is parallel to the list `jobs:instant:{q}`. Of
    /// equal entries, the deleted ones are at the end of the list (the oldest).
    void drop_deleted(const std::string& queue, std::vector<std::string>& about) const {
        const auto found = keys_.find("routemaster:deleted:" + queue);
        const auto ready = keys_.find(ready_ + queue);
        if (found == keys_.end() || ready == keys_.end()) return;
        auto jobs = ready->second.lines;
        if (jobs.size() != about.size()) return;
        for (const auto& line : found->second.lines) {
            const auto cut = line.rfind(" = ");
            if (cut == 0) continue;  // The total number of deleted jobs.
            for (auto times = std::stoi(line.substr(cut + 3)); times > 0; --times) {
                const auto last = std::find(jobs.rbegin(), jobs.rend(), line.substr(0, cut));
                if (last == jobs.rend()) continue;
                const auto place = std::next(last).base();
                about.erase(about.begin() + (place - jobs.begin()));
                jobs.erase(place);
            }
        }
    }

    static Entry sorted(Entry entry) {
        if (!entry.ordered) std::sort(entry.lines.begin(), entry.lines.end());
        return entry;
    }

    static std::string printable(const std::vector<std::string>& lines) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (const auto& line : lines) {
            text += "    ";
            for (const char c : line) {
                const auto byte = static_cast<unsigned char>(c);
                if (c >= ' ' && c <= '~') {
                    text += c;
                } else {
                    text += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
                }
            }
            text += '\n';
        }
        return text;
    }

    [[nodiscard]] std::vector<std::string> part(const std::string& key) const {
        const auto found = keys_.find(key);
        return found == keys_.end() ? std::vector<std::string>{} : sorted(found->second).lines;
    }

    std::map<std::string, Entry> keys_;
};

/// All keys of a server, unfiltered.
inline RedisKeys keys_of(const RedisServer& server) {
    // A single script, because there may be thousands of keys.
    static constexpr const char* script = R"(
        local all = {}
        for _, key in ipairs(redis.call('KEYS', '*')) do
            local kind = redis.call('TYPE', key).ok
            local items
            if kind == 'string' then items = {redis.call('GET', key)}
            elseif kind == 'list' then items = redis.call('LRANGE', key, 0, -1)
            elseif kind == 'set' then items = redis.call('SMEMBERS', key)
            elseif kind == 'hash' then items = redis.call('HGETALL', key)
            else items = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
            all[#all + 1] = {key, kind, items}
        end
        return all)";
    RedisKeys all;
    for (const auto& one : server.command({"EVAL", script, "0"}).list) {
        const auto& key = one.list.at(0).text;
        const auto& kind = one.list.at(1).text;
        const auto& items = one.list.at(2).list;
        // In groups the order of the members counts, but their scores do not.
        const bool group = key.find("routemaster:group:") != std::string::npos ||
                           key.find("routemaster:order:") != std::string::npos;
        if (kind == "string" || kind == "list") {
            for (const auto& item : items) all.list(key, item.text);
        } else if (kind == "set") {
            for (const auto& member : items) all.set(key, member.text);
        } else {
            for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
                if (kind == "hash") {
                    all.hash(key, items[i].text, items[i + 1].text);
                } else if (group) {
                    all.list(key, items[i].text);
                } else {
                    all.set(key, items[i].text + "@" + items[i + 1].text);
                }
            }
        }
    }
    return all;
}

}  // namespace routemaster::test
