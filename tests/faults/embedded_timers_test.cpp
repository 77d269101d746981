/// @file
/// Timers in a file.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/embedded_file.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

const std::string reminders = "reminders";

PostTimer timer(const FileScene& scene, const std::string& id, Duration delay,
                std::uint32_t retries_max = 0, Duration confirm_within = Duration{0}) {
    return {.space = reminders,
            .id = id,
            .payload = encode(Value{Value::Map{{"for", id}}}),
            .due_at = scene.now + delay,
            .retries_max = retries_max,
            .confirm_within = confirm_within};
}

TakeTimers take(std::uint32_t limit = taken_timers_max) {
    return {.space = reminders, .listener = "ear", .limit = limit};
}

/// All timers, by state, time and id.
std::vector<TimerStatus> all_timers(FileScene& scene) {
    std::vector<TimerStatus> all;
    for (const auto state : {TimerState::pending, TimerState::fired, TimerState::dead}) {
        for (auto& one :
             scene.must(ListTimers{.space = reminders, .state = state, .limit = 1'000})) {
            all.push_back(std::move(one));
        }
    }
    return all;
}

std::string ids_of(const TakenTimers& taken) {
    std::vector<std::string> ids;
    for (const auto& one : taken.timers) ids.push_back(one.id);
    return joined(ids);
}

}  // namespace

TEST_CASE("a file keeps timers of all states, with their due times") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    for (const char* id : {"dead", "fired", "back", "confirmed"}) {
        scene.must(timer(scene, id, Duration{0}, std::string{id} == "dead" ? 1 : 2));
    }
    scene.must(timer(scene, "gone", Duration{0}));
    CHECK(ids_of(scene.must(take())) == "back confirmed dead fired gone");
    CHECK(scene.must(ConfirmTimer{reminders, "confirmed", 0}) == TimerConfirmed::confirmed);
    scene.now += Duration{10'000};
    CHECK(ids_of(scene.must(take())) == "back dead fired");
    scene.now += Duration{10'000};
    // One timer comes back and fires again; one comes back and waits; one becomes DEAD.
    CHECK(ids_of(scene.must(take(1))) == "back");
    scene.must(timer(scene, "pending", Duration{5'000}));
    scene.must(timer(scene, "ruled", Duration{6'000}, 7, Duration{300}));
    scene.must(timer(scene, "moved", Duration{6'000}));
    scene.must(PostponeTimer{reminders, "moved", scene.now + Duration{7'000}});
    scene.must(timer(scene, "cancelled", Duration{6'000}));
    scene.must(CancelTimer{reminders, "cancelled"});
    scene.must(timer(scene, "replaced", Duration{6'000}, 1));
    scene.must(timer(scene, "replaced", Duration{8'000}));
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto before = all_timers(scene);
    CHECK(before.size() == 7);
    const auto counts = scene.must(CountTimers{reminders});
    CHECK(counts.fired == 1);
    CHECK(counts.dead == 1);

    scene.close();
    scene.open(options);
    CHECK(all_timers(scene) == before);
    auto found = scene.must(CountTimers{reminders});
    CHECK(found.listeners == 0);
    found.listeners = counts.listeners;
    CHECK(found == counts);
    CHECK(scene.must(ConfirmTimer{reminders, "back", 0}) == TimerConfirmed::unknown);
    CHECK(scene.must(ConfirmTimer{reminders, "back", 2}) == TimerConfirmed::confirmed);
    const auto taken = scene.must(take());
    CHECK(ids_of(taken) == "fired");
    CHECK(taken.timers.at(0).retries == 2);
    scene.now += Duration{8'000};
    const auto later = scene.must(take());
    CHECK(ids_of(later) == "pending ruled moved replaced");
    CHECK(later.timers.at(1).confirm_by == scene.now + Duration{300});
    CHECK(later.timers.at(3).confirm_by == never);
    CHECK(scene.must(RepostDeadTimers{reminders, {}, scene.now}) == Count{1});
    scene.close();
    scene.open(options);
    // Includes a timer whose former listener may still have it.
    const auto reposted = scene.must(take());
    CHECK(ids_of(reposted) == "dead ruled");
    CHECK(reposted.timers.at(0).retries == 0);
    CHECK(reposted.timers.at(0).retries_max == 1);
}

TEST_CASE("timers fired in a process that died fire again at once, and this counts as a retry") {
    FileScene scene;
    scene.must(timer(scene, "often", Duration{0}, 5, Duration{60'000}));
    scene.must(timer(scene, "once", Duration{0}, 1));
    CHECK(ids_of(scene.must(take())) == "often once");
    // As long as the process lives, the listener may confirm its timers, and they do not come back.
    scene.now += Duration{1};
    CHECK(scene.must(take()).timers.empty());
    scene.close();
    scene.open();
    scene.now += Duration{1};
    const auto again = scene.must(take());
    CHECK(ids_of(again) == "often once");
    CHECK(again.timers.at(0).retries == 1);
    CHECK(again.timers.at(0).due_at == scene.now);
    CHECK(scene.must(ConfirmTimer{reminders, "often", 0}) == TimerConfirmed::unknown);
    CHECK(scene.must(ConfirmTimer{reminders, "often", 1}) == TimerConfirmed::confirmed);
    // The second timer has no retries left.
    scene.close();
    scene.open();
    CHECK(scene.must(take()).timers.empty());
    CHECK(scene.must(CountTimers{reminders}).dead == 1);
}

TEST_CASE("a file keeps the reason for rejecting a timer while the timer is DEAD") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    for (const char* id : {"kept", "reposted", "silent"}) {
        scene.must(timer(scene, id, Duration{0}, 5));
    }
    scene.must(take());
    for (const char* id : {"kept", "reposted"}) {
        scene.must(GiveUpTimer{.space = reminders, .id = id, .reason = "no such order"});
    }
    scene.must(GiveUpTimer{.space = reminders, .id = "silent"});
    scene.must(RepostDeadTimers{reminders, "reposted", scene.now + Duration{5'000}});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto before = all_timers(scene);
    CHECK(before.size() == 3);
    scene.close();
    scene.open(options);
    CHECK(all_timers(scene) == before);
    CHECK(scene.must(FindTimer{reminders, "kept"})->reason == "no such order");
    CHECK(scene.must(FindTimer{reminders, "reposted"})->reason.empty());
    CHECK(scene.must(FindTimer{reminders, "silent"})->reason.empty());
}

TEST_CASE("thousands of timers fired in a process that died fire again in chunks, each once") {
    FileScene scene{{.durability = Durability::relaxed}};
    constexpr std::size_t all = 2'500;
    for (std::size_t i = 0; i < all; ++i) {
        scene.must(timer(scene, std::to_string(i), Duration{0}, 1));
    }
    const auto take_all = [&scene] {
        std::size_t taken = 0;
        for (auto wake_at = scene.now; wake_at <= scene.now;) {
            const auto some = scene.must(take());
            taken += some.timers.size();
            wake_at = some.wake_at;
        }
        return taken;
    };
    CHECK(take_all() == all);
    scene.close();
    scene.open();
    CHECK(scene.must(take()).wake_at == scene.now);
    CHECK(take_all() == all);
    CHECK(scene.must(CountTimers{reminders}).fired == all);
}

TEST_CASE("a timer that is postponed often takes little space in the file") {
    FileScene scene{{.slack_max = 4'096}};
    scene.must(timer(scene, "alarm", Duration{1'000}, 1));
    for (int i = 0; i < 2'000; ++i) {
        scene.must(PostponeTimer{reminders, "alarm", scene.now + Duration{1'000 + i}});
    }
    const auto due = scene.must(FindTimer{reminders, "alarm"})->at;
    scene.close();
    CHECK(check_embedded_file(scene.file).value().bytes < 10'000);
    scene.open();
    CHECK(scene.must(FindTimer{reminders, "alarm"})->at == due);
}

TEST_CASE("a file is small again after many timers have been posted and confirmed") {
    FileScene scene{{.durability = Durability::relaxed, .slack_max = 10'000}};
    for (int round = 0; round < 60; ++round) {
        for (int i = 0; i < 1'000; ++i) {
            scene.must(timer(scene, std::to_string(i), Duration{0}, i % 2 == 0 ? 1 : 0));
        }
        CHECK(scene.must(take()).timers.size() == 1'000);
        for (int i = 0; i < 1'000; i += 2) {
            scene.must(ConfirmTimer{reminders, std::to_string(i), 0});
        }
    }
    scene.close();
    // The total of written bytes is ten times as large. The file is compacted meanwhile, possibly
    // with a delay.
    CHECK(check_embedded_file(scene.file).value().bytes < 2'500'000);
}

TEST_CASE("timers of a file are included in its check and its export") {
    FileScene scene;
    scene.must(timer(scene, "a", Duration{0}, 1));
    scene.must(take());
    scene.must(timer(scene, "b", Duration{0}));
    scene.close();
    std::vector<std::string> lines;
    const auto report = export_embedded_file(scene.file, [&](std::string_view line) {
                            lines.emplace_back(line);
                        }).value();
    CHECK(report.timers == 2);
    CHECK(report.damage.empty());
    const auto has = [&](const std::string& line) {
        return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    const auto at = std::to_string(to_milliseconds(scene.now) + 10'000);
    CHECK(has(R"({"timer":{"namespace":"reminders","id":"a","payload":{"for":"a"},)"
              R"("state":"FIRED","at":)" +
              at + R"(,"retries":0,"retries_max":1}})"));
}

TEST_CASE(
    "a listener gets a timer once the firing is on disk, and a post is acknowledged once on disk") {
    Disk disk;
    FileScene scene;
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        const auto id = std::to_string(round);
        const std::uint32_t retries_max = round % 2 == 0 ? 0 : 1;
        const auto what_power_loss_leaves = [&](const char* when) {
            FileScene left;
            left.close();
            const auto copy = left.folder.path() / ("copy" + id + when);
            disk.copy_synced(scene.file, copy);
            left.open_at(copy);
            return left.must(FindTimer{reminders, id});
        };
        scene.must(timer(scene, id, Duration{0}, retries_max));
        CHECK(what_power_loss_leaves("posted")->state == TimerState::pending);
        CHECK(scene.must(take()).timers.size() == 1);
        const auto fired = what_power_loss_leaves("fired");
        CHECK(fired.has_value() == (retries_max > 0));
        if (fired) {
            CHECK(fired->state == TimerState::fired);
            CHECK(scene.must(ConfirmTimer{reminders, id, 0}) == TimerConfirmed::confirmed);
            CHECK(!what_power_loss_leaves("confirmed"));
        }
    }
}
