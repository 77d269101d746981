// Jobs done by commands, on a running bus.

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "support/await.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::await;

namespace {

std::string text_in(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

/// Whether a process exists, possibly as a zombie.
bool is_there(pid_t pid) { return ::kill(pid, 0) == 0; }

std::vector<pid_t> children_of(pid_t pid) {
    const auto process = "/proc/" + std::to_string(pid);
    std::istringstream text{text_in(process + "/task/" + std::to_string(pid) + "/children")};
    std::vector<pid_t> all;
    for (pid_t child = 0; text >> child;) all.push_back(child);
    return all;
}

/// A bus that runs a script for each job of the queue `work`. The variable HERE contains the
/// folder.
class CommandScene {
public:
    explicit CommandScene(const std::string& script, std::vector<std::string> flags = {},
                          const std::string& words = {})
        : flags_{std::move(flags)} {
        const auto file = (folder_.path() / "script").string();
        std::ofstream{file} << script;
        flags_.insert(flags_.end(), {"--run", "work=sh " + file + " " + words});
        bus_ = std::make_unique<test::RunningBus>(
            folder_.path(), flags_,
            test::Process::Environment{{"HERE", folder_.path().string()},
                                       {"ROUTEMASTER_TOKEN", "hidden"}});
    }

    /// Pushes a job. Returns its id.
    std::int64_t push(const std::string& name, const std::string& more = {}) {
        const auto answer =
            bus_->ask("POST", path_, test::root_key, R"({"name":")" + name + '"' + more + "}");
        REQUIRE(answer.status == 200);
        return *parse_json(answer.body).value().find("id")->get_if<std::int64_t>();
    }

    /// Pushes equal jobs in one step. Returns their ids.
    std::vector<std::int64_t> push_many(const std::string& name, std::size_t count) {
        std::string body;
        for (std::size_t i = 0; i < count; ++i) {
            body +=
                (i == 0 ? "[" : ",") + std::string{R"({"name":")"} + name + R"(","unique":false})";
        }
        const auto answer = bus_->ask("POST", path_, test::root_key, body + "]");
        REQUIRE(answer.status == 200);
        const auto parsed = parse_json(answer.body).value();
        std::vector<std::int64_t> ids;
        for (const auto& each : *parsed.get_if<Value::Array>()) {
            ids.push_back(*each.find("id")->get_if<std::int64_t>());
        }
        return ids;
    }

    /// The status of a job as JSON; empty when the job does not exist.
    std::string job(std::int64_t id) {
        const auto answer = bus_->ask("GET", path_ + "/" + std::to_string(id), test::root_key);
        return answer.status == 200 ? answer.body : "";
    }

    /// The number of jobs leased by workers of the queue.
    std::int64_t leased() {
        const auto answer = bus_->ask("GET", "/v1/workers", test::root_key);
        REQUIRE(answer.status == 200);
        std::int64_t sum = 0;
        const auto workers = parse_json(answer.body).value();
        for (const auto& worker : *workers.get_if<Value::Array>()) {
            sum += *worker.find("leased")->get_if<std::int64_t>();
        }
        return sum;
    }

    [[nodiscard]] bool await_gone(std::int64_t id) {
        return await([&] { return job(id).empty(); });
    }
    [[nodiscard]] bool await_job(std::int64_t id, const std::string& part) {
        return await([&] { return job(id).find(part) != std::string::npos; });
    }

    /// The content of a file written by a script. Waits for the first complete line.
    std::string written(const std::string& name) {
        CHECK(await([&] { return text_in(file(name)).ends_with('\n'); }));
        return text_in(file(name));
    }
    pid_t pid_in(const std::string& name) { return std::stoi(written(name)); }

    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return folder_.path() / name;
    }
    test::RunningBus& bus() { return *bus_; }

private:
    const std::string path_ = "/v1/queues/work/jobs";
    test::TemporaryFolder folder_;
    std::vector<std::string> flags_;
    std::unique_ptr<test::RunningBus> bus_;
};

}  // namespace

TEST_CASE("a job's command gets only the arguments and variables of its job") {
    CommandScene scene{R"(cat > $HERE/input
env | grep ROUTEMASTER_ | sort > $HERE/variables
ls /proc/self/fd | tr '\n' ' ' > $HERE/descriptors
grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\t' > $HERE/signals
echo "$1|$2" > $HERE/words
)",
                       {},
                       R"('two words' "a\"b")"};
    const auto id = scene.push("resize", R"(,"arguments":[1,"a b",{"x":null}])");
    CHECK(scene.await_gone(id));
    CHECK(scene.written("input") == "[1,\"a b\",{\"x\":null}]\n");
    CHECK(scene.written("variables") ==
          "ROUTEMASTER_JOB_ATTEMPT=1\nROUTEMASTER_JOB_FENCE=1\nROUTEMASTER_JOB_ID=1\n"
          "ROUTEMASTER_JOB_NAME=resize\nROUTEMASTER_JOB_QUEUE=work\n");
    CHECK(text_in(scene.file("descriptors")) == "0 1 2 3 ");
    const auto signals = scene.written("signals");
    CHECK(signals.starts_with("SigBlk:0000000000000000\nSigIgn:"));
    // The C library ignores two of its own signals in processes started by `posix_spawn`, as this
    // bus is.
    const bool none = signals.ends_with(":0000000000000000\n");
    CHECK((none || signals.ends_with(":0000000180000000\n")));
    CHECK(scene.written("words") == "two words|a\"b\n");
}

TEST_CASE("a command finds no secret of its worker in its ancestor processes") {
    const test::TemporaryFolder folder;
    const auto seen = folder.path() / "seen";
    const auto script = folder.path() / "script";
    std::ofstream{script} << R"(pid=$PPID
while [ "$pid" -gt 1 ] && [ "$pid" != "$TEST" ]; do
    tr '\0' '\n' < /proc/$pid/environ
    tr '\0' '\n' < /proc/$pid/cmdline
    pid=$(sed -n 's/^PPid:.//p' /proc/$pid/status)
done > "$HERE/all"
echo end >> "$HERE/all"
mv "$HERE/all" "$HERE/seen"
)";
    const auto store = "file:" + (folder.path() / "bus.db").string();
    std::vector<std::string> flags{"--proxy=http://me:hidden-a@127.0.0.1:1", "--run",
                                   "work=sh " + script.string()};
    const test::RunningBus bus{folder.path(),
                               flags,
                               {{"HERE", folder.path().string()},
                                {"TEST", std::to_string(getpid())},
                                {"ROUTEMASTER_ROOT_KEY", "hidden-b"},
                                {"ROUTEMASTER_CLIENTS", "hidden-c,hidden-d"},
                                {"ROUTEMASTER_TOKEN", "hidden-e"},
                                {"ROUTEMASTER_STORE", store},
                                {"ROUTEMASTER_REDIS_URL", "redis://me:hidden-f@example.org"},
                                {"ROUTEMASTER_BUS", "https://me:hidden-g@example.org"}}};
    REQUIRE(bus.ask("POST", "/v1/queues/work/jobs", test::root_key, R"({"name":"a"})").status ==
            200);
    REQUIRE(await([&] { return text_in(seen).ends_with("end\n"); }));
    const auto text = text_in(seen);
    CHECK(text.find("hidden") == std::string::npos);
    CHECK(text.find(test::root_key) == std::string::npos);
    CHECK(text.find("shop") == std::string::npos);
    CHECK(text.find("\n--root-key\n*\n") != std::string::npos);
    CHECK(text.find("--proxy=http://***********@127.0.0.1:1\n") != std::string::npos);
    CHECK(text.find("ROUTEMASTER_STORE=" + store + "\n") != std::string::npos);
    CHECK(text.find("ROUTEMASTER_REDIS_URL=redis://***********@example.org\n") !=
          std::string::npos);
}

TEST_CASE("a worker logs the sources of its settings, without secrets") {
    const test::TemporaryFolder folder;
    test::Process bus{{test::routemaster_binary, "serve", "--listen", "127.0.0.1:0", "--data-dir",
                       folder.path().string()},
                      {{"ROUTEMASTER_ROOT_KEY", "hidden-a"}, {"ROUTEMASTER_CLIENTS", "hidden-b"}}};
    bus.keeps_secret({"hidden-a", "hidden-b"});
    REQUIRE(bus.line().starts_with("routemaster: listening"));
    CHECK(bus.await_error("root-key=*** (ROUTEMASTER_ROOT_KEY)"));
    CHECK(bus.await_error("clients=*** (ROUTEMASTER_CLIENTS)"));
}

TEST_CASE("the exit status of a command decides whether its job is done, retried or BURIED") {
    CommandScene scene{R"(case $ROUTEMASTER_JOB_NAME in
later) echo busy; exit 75;;
bad) seq 2000; echo "no such picture" >&2; exit 3;;
nul) printf 'before\000\377after\n'; exit 3;;
killed) kill -9 $$;;
esac
)"};
    CHECK(scene.await_gone(scene.push("good")));
    const auto later = scene.push("later");
    REQUIRE(scene.await_job(later, "exit status 75: busy"));
    CHECK(scene.job(later).find(R"("state":"scheduled")") != std::string::npos);
    const auto bad = scene.push("bad", R"(,"attempts_max":1)");
    REQUIRE(scene.await_job(bad, R"("state":"buried")"));
    const auto text = scene.job(bad);
    CHECK(text.find(R"("text":"exit status 3: 1)") != std::string::npos);
    CHECK(text.find(R"(\u000a2000\u000ano such picture"}])") != std::string::npos);
    const auto nul = scene.push("nul", R"(,"attempts_max":1)");
    CHECK(scene.await_job(nul, R"("text":"exit status 3: before??after"})"));
    const auto killed = scene.push("killed", R"(,"attempts_max":1)");
    CHECK(scene.await_job(killed, R"("text":"killed by SIGKILL"})"));
}

TEST_CASE("a command may write much output, and need not read its input") {
    CommandScene scene{R"(exec 0<&-
head -c 1048576 /dev/zero | tr '\0' x
echo; echo "the end"
[ $ROUTEMASTER_JOB_NAME = good ]
)"};
    const auto large = R"(,"attempts_max":1,"arguments":[")" + std::string(700'000, 'a') + R"("])";
    CHECK(scene.await_gone(scene.push("good", large)));
    CHECK(scene.await_job(scene.push("bad", large), R"("text":"exit status 1: the end"})"));
}

TEST_CASE("a command beyond its timeout gets SIGTERM, and is then killed with all its processes") {
    CommandScene scene{R"(if [ $ROUTEMASTER_JOB_NAME = polite ]; then
    trap 'echo asked > $HERE/asked; exit 0' TERM
else
    trap '' TERM
fi
setsid sh -c 'echo $$ > $HERE/child; exec sleep 1000' &
echo $$ > $HERE/pid
while :; do sleep 0.05; done
)",
                       {"--run-kill-after", "0.3"}};
    const std::string short_time = R"(,"attempts_max":1,"timeout":300)";
    const auto polite = scene.push("polite", short_time);
    CHECK(scene.await_job(polite, R"("text":"timed out after 300 ms"})"));
    CHECK(scene.written("asked") == "asked\n");
    for (const char* name : {"pid", "child"}) {
        const auto pid = scene.pid_in(name);
        CHECK(await([&] { return !is_there(pid); }));
        std::filesystem::remove(scene.file(name));
    }
    const auto stubborn = scene.push("stubborn", short_time);
    const auto pid = scene.pid_in("pid");
    const auto child = scene.pid_in("child");
    const auto began = std::chrono::steady_clock::now();
    CHECK(scene.await_job(stubborn, R"("text":"timed out after 300 ms"})"));
    CHECK(await([&] { return !is_there(pid) && !is_there(child); }));
    // By default the command is killed after 5 s.
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{5});
}

TEST_CASE("the run timeout ends a command whose job has no timeout of its own") {
    CommandScene scene{R"([ $ROUTEMASTER_JOB_NAME = endless ] && exec sleep 1000
sleep 0.6
)",
                       {"--run-timeout", "0.3", "--run-kill-after", "0.3"}};
    const auto endless = scene.push("endless", R"(,"attempts_max":1)");
    CHECK(scene.await_job(endless, R"("text":"timed out after 300 ms"})"));
    const auto patient = scene.push("patient", R"(,"attempts_max":1,"timeout":600000)");
    CHECK(scene.await_gone(patient));
}

TEST_CASE("a job whose command ended with 75 runs again after the retry time") {
    CommandScene scene{"[ $ROUTEMASTER_JOB_ATTEMPT = 2 ] || exit 75\n",
                       {"--run-retry-after", "0.1"}};
    CHECK(scene.await_gone(scene.push("a")));
}

TEST_CASE("a worker leases as many jobs as it has slots for commands") {
    for (const std::size_t slots : {1U, 3U}) {
        INFO(slots);
        CommandScene scene{R"(touch $HERE/started.$ROUTEMASTER_JOB_ID
while ! [ -e $HERE/go ]; do sleep 0.01; done
)",
                           {"--run-slots", std::to_string(slots)}};
        const auto ids = scene.push_many("a", 8);
        const auto count = [&](const auto& condition) {
            return static_cast<std::size_t>(std::count_if(ids.begin(), ids.end(), condition));
        };
        const auto started = [&](std::int64_t id) {
            return std::filesystem::exists(scene.file("started." + std::to_string(id)));
        };
        const auto leased = [&](std::int64_t id) {
            return scene.job(id).find(R"("state":"pending")") != std::string::npos;
        };
        REQUIRE(await([&] { return count(started) == slots; }));
        CHECK(count(leased) == slots);
        CHECK(count(started) == slots);
        std::ofstream{scene.file("go")} << "go";
        for (const auto id : ids) CHECK(scene.await_gone(id));
    }
}

TEST_CASE("no job waits for a free slot in a worker, however short the jobs are") {
    constexpr std::int64_t slots = 4;
    CommandScene scene{"exit 0\n", {"--run-slots", std::to_string(slots)}};
    // A pool with a prefetch would fetch ahead only after several jobs within 20 ms.
    const auto ids = scene.push_many("quick", 500);
    std::int64_t leased_max = 0;
    REQUIRE(await(
        [&] {
            leased_max = std::max(leased_max, scene.leased());
            return scene.job(ids.back()).empty();
        },
        std::chrono::minutes{2}));
    CHECK(leased_max > 0);
    CHECK(leased_max <= slots);
}

TEST_CASE("no process of a command remains after its end, not even a zombie") {
    CommandScene scene{R"(setsid sh -c 'echo $$ > $HERE/child; exec sleep 1000' > /dev/null &
sleep 1000 &
while ! [ -s $HERE/child ]; do sleep 0.01; done
)"};
    CHECK(scene.await_gone(scene.push("a")));
    const auto child = scene.pid_in("child");
    CHECK(await([&] { return !is_there(child); }));
    const auto keepers = children_of(scene.bus().process().pid());
    REQUIRE(keepers.size() == 1);
    CHECK(await([&] { return children_of(keepers.front()).empty(); }));
    CHECK(scene.bus().stop() == 0);
    CHECK(!is_there(keepers.front()));
}

TEST_CASE("no process of a command remains after its worker is killed, and the job runs again") {
    CommandScene scene{R"([ $ROUTEMASTER_JOB_ATTEMPT = 1 ] || exit 0
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > $HERE/child; while :; do sleep 0.05; done' > /dev/null &
echo $$ > $HERE/pid
while :; do sleep 0.05; done
)"};
    const auto id = scene.push("a", R"(,"expires":3600000)");
    const auto pid = scene.pid_in("pid");
    const auto child = scene.pid_in("child");
    const auto keepers = children_of(scene.bus().process().pid());
    REQUIRE(keepers.size() == 1);
    scene.bus().kill();
    CHECK(await([&] { return !is_there(pid) && !is_there(child); }));
    CHECK(await([&] { return !is_there(keepers.front()); }));
    scene.bus().start();
    CHECK(scene.await_gone(id));
}

TEST_CASE("a worker that cannot start commands uses up no attempts of its jobs") {
    CommandScene scene{"exit 0\n"};
    REQUIRE(scene.await_gone(scene.push("first")));
    const auto keepers = children_of(scene.bus().process().pid());
    REQUIRE(keepers.size() == 1);
    ::kill(keepers.front(), SIGKILL);
    // Until the keeper has closed its socket, it is unknown whether a request to it was started.
    const auto stat = "/proc/" + std::to_string(keepers.front()) + "/stat";
    REQUIRE(await([&] { return text_in(stat).find(") Z ") != std::string::npos; }));
    const auto id = scene.push("second", R"(,"attempts_max":1)");
    CHECK(scene.bus().process().await_error("cannot run commands: "));
    CHECK(scene.await_job(id, R"("state":"scheduled")"));
    CHECK(scene.job(id).find(R"("attempts":0,)") != std::string::npos);
    scene.bus().kill();
    scene.bus().start();
    CHECK(scene.await_gone(id));
}

TEST_CASE("a command that stops its guard process gets no additional time") {
    CommandScene scene{"kill -STOP $PPID; echo $$ > $HERE/pid; exec sleep 1000\n",
                       {"--run-kill-after", "0.3"}};
    const auto id = scene.push("a", R"(,"attempts_max":1,"timeout":300)");
    const auto pid = scene.pid_in("pid");
    CHECK(scene.await_job(id, R"("text":"timed out after 300 ms"})"));
    CHECK(await([&] { return !is_there(pid); }));
}

TEST_CASE("a worker can stop while the processes that start and guard its commands are suspended") {
    CommandScene scene{"echo $$ > $HERE/pid; exec sleep 1000\n", {"--stop-grace", "0.2"}};
    scene.push("a");
    const auto pid = scene.pid_in("pid");
    const auto keepers = children_of(scene.bus().process().pid());
    REQUIRE(keepers.size() == 1);
    const auto guards = children_of(keepers.front());
    REQUIRE(guards.size() == 1);
    for (const auto each : {keepers.front(), guards.front()}) ::kill(each, SIGSTOP);
    scene.bus().process().signal(SIGTERM);
    CHECK(scene.bus().process().wait() == 0);
    CHECK(!is_there(keepers.front()));
    CHECK(await([&] { return !is_there(pid) && !is_there(guards.front()); }));
}

TEST_CASE(
    "a stopping worker lets commands end within the grace period, and unfinished jobs run again") {
    const char* const script = R"(echo $$ > $HERE/pid
[ $ROUTEMASTER_JOB_NAME = long ] && exec sleep 1000
while ! [ -e $HERE/go ]; do sleep 0.01; done
echo done > $HERE/done
)";
    for (const bool ends : {true, false}) {
        CommandScene scene{script, {"--stop-grace", ends ? "20" : "0.2"}};
        const auto id = scene.push(ends ? "short" : "long", R"(,"expires":3600000)");
        const auto pid = scene.pid_in("pid");
        scene.bus().process().signal(SIGTERM);
        CHECK(scene.bus().process().await_error("stopping"));
        std::ofstream{scene.file("go")} << "go";
        CHECK(scene.bus().process().wait() == 0);
        CHECK(!is_there(pid));
        CHECK(text_in(scene.file("done")) == (ends ? "done\n" : ""));
        if (ends) continue;
        std::filesystem::remove(scene.file("pid"));
        scene.bus().start();
        scene.pid_in("pid");
        CHECK(scene.job(id).find(R"("attempts":1,)") != std::string::npos);
    }
}

TEST_CASE("a worker checks at its start that its command exists") {
    const auto complaint = [](const std::vector<std::string>& flags) {
        std::vector<std::string> words{"serve", "--store", "memory:", "--root-key", "k"};
        words.insert(words.end(), flags.begin(), flags.end());
        const auto ended = test::run(words);
        CHECK(ended.status == 2);
        return ended.errors;
    };
    const auto mentions_it = [&](const std::vector<std::string>& flags, const char* what) {
        CHECK(complaint(flags).find(what) != std::string::npos);
    };
    mentions_it({"--run", "work"}, "must have the form QUEUE=COMMAND");
    mentions_it({"--run", "a b=true"}, "the queue 'a b'");
    mentions_it({"--run", "main=true"}, "'main' is reserved for the bus itself");
    mentions_it({"--run", "work="}, "no words");
    mentions_it({"--run", "work=sh 'x"}, "an open quote");
    mentions_it({"--run", "work=no-such-program-here"}, "there is no program");
    mentions_it({"--run", "work=true", "--run", "work=false"}, "has two commands");
    mentions_it({"--run", "work=true", "--run-slots", "0"}, "--run-slots");
}
