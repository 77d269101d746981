#include "routemaster/typed_job.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

struct Resize {
    static constexpr std::string_view name = "resize";
    std::int64_t image = 0;
    std::string size{};

    [[nodiscard]] Value::Array encode() const { return {image, size}; }
    [[nodiscard]] static Result<Resize> decode(const Value::Array& arguments) {
        if (arguments.size() == 2) {
            const auto* image = arguments[0].get_if<std::int64_t>();
            const auto* size = arguments[1].get_if<std::string>();
            if (image != nullptr && size != nullptr) return Resize{*image, *size};
        }
        return Error{Errc::invalid, "resize: wants an image and a size"};
    }
    friend bool operator==(const Resize&, const Resize&) = default;
};

/// A different type of the same shape.
struct Rotate : Resize {
    [[maybe_unused]] static constexpr std::string_view name = "rotate";
    [[nodiscard]] static Result<Rotate> decode(const Value::Array&) { return Rotate{}; }
};

struct WithoutName {
    [[nodiscard]] Value::Array encode() const { return {}; }
    [[nodiscard]] static Result<WithoutName> decode(const Value::Array&) { return WithoutName{}; }
};

struct WithoutCodec {
    [[maybe_unused]] static constexpr std::string_view name = "without_codec";
};

struct DecodesAnother {
    [[maybe_unused]] static constexpr std::string_view name = "decodes_another";
    [[nodiscard]] Value::Array encode() const { return {}; }
    [[nodiscard]] static Result<Resize> decode(const Value::Array&) { return Resize{}; }
};

template <class T>
concept Pushable = requires(JobQueue& queue, const T& job) {
    queue.push(job);
};

template <class T>
concept ManyPushable = requires(JobQueue& queue, const std::vector<T>& jobs) {
    queue.push_many(jobs);
};

template <class T, class Handler>
concept Handleable = requires(WorkerPool& pool, Handler handler) {
    pool.handle<T>(std::move(handler));
};

static_assert(Pushable<Job> && Pushable<Resize> && ManyPushable<Job> && ManyPushable<Resize>);
static_assert(!Pushable<int> && !Pushable<WithoutName> && !Pushable<WithoutCodec>);
static_assert(!Pushable<DecodesAnother> && !ManyPushable<WithoutCodec>);

static_assert(Handleable<Resize, void (*)(const Resize&)>);
static_assert(Handleable<Resize, void (*)(const Resize&, JobContext&)>);
static_assert(!Handleable<Resize, void (*)(const Rotate&)>);
static_assert(!Handleable<Resize, void (*)(JobContext&)>);
static_assert(!Handleable<WithoutCodec, void (*)(const WithoutCodec&)>);

}  // namespace

TEST_CASE("a typed job arrives at its handler as pushed") {
    JobScene scene;
    HandPool pool{scene};
    std::vector<Resize> done;
    pool.pool.handle<Resize>([&](const Resize& resize, JobContext& job) {
        CHECK(job.name() == "resize");
        done.push_back(resize);
    });
    const auto pushed = scene.jobs.push(Resize{42, "large"}).value();
    CHECK(pushed == PushOutcome::pushed);
    CHECK(scene.jobs.push({"resize", {42, "large"}}).value() ==
          Pushed{PushOutcome::duplicate, pushed.id});
    const auto many = scene.jobs.push_many(std::vector<Resize>{{42, "large"}, {43, "small"}});
    CHECK(many.at(0).value() == PushOutcome::duplicate);
    CHECK(many.at(1).value() == PushOutcome::pushed);
    pool.run();
    CHECK(done == std::vector<Resize>{{42, "large"}, {43, "small"}});
}

TEST_CASE("typed jobs can be pushed with a completion, and for later") {
    JobScene scene;
    std::optional<Pushed> one;
    std::size_t many = 0;
    scene.jobs.push(Resize{1, "s"}, {.delay = Duration{50}},
                    [&](const Result<Pushed>& reply) { one = reply.value(); });
    scene.jobs.push_many(std::vector<Resize>{{2, "s"}, {3, "s"}}, {},
                         [&](const auto& replies) { many = replies.size(); });
    CHECK(one.value() == PushOutcome::pushed);
    CHECK(many == 2);
    CHECK(scene.queue() == QueueStatus{.scheduled = 1, .ready = 2});
}

TEST_CASE("a job with arguments of another type is BURIED") {
    JobScene scene;
    HandPool pool{scene};
    pool.pool.handle<Resize>([](const Resize&) { FAIL("called"); });
    const auto id = scene.jobs.push({"resize", {"large"}}).value().id;
    pool.run();
    CHECK(scene.job(id).state == JobStatus::State::buried);
    CHECK(scene.job(id).errors.back().text.starts_with("arguments: resize: wants an image"));
}
