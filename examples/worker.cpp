/// @file
/// A program that pushes jobs and runs them. If it is killed at any moment, it continues at the
/// next start.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>
#include <routemaster/worker_pool.hpp>

namespace rm = routemaster;

namespace {

/// A job as a struct. Pushing a type without `name` and `encode` does not compile.
struct Resize {
    static constexpr std::string_view name = "resize";
    std::int64_t image = 0;
    std::string size;

    [[nodiscard]] rm::Value::Array encode() const { return {image, size}; }

    [[nodiscard]] static rm::Result<Resize> decode(const rm::Value::Array& arguments) {
        const auto* image = arguments.empty() ? nullptr : arguments[0].get_if<std::int64_t>();
        const auto* size = arguments.size() < 2 ? nullptr : arguments[1].get_if<std::string>();
        if (image == nullptr || size == nullptr) {
            return rm::Error{rm::Errc::invalid, "resize: wants an image and a size"};
        }
        return Resize{*image, *size};
    }
};

}  // namespace

int main() {
    auto store = rm::open_store("file:worker.db").value();

    rm::JobQueue images{*store, "images"};
    for (int image = 1; image <= 3; ++image) images.push(Resize{image, "large"}).value();
    // An equal job is queued already, so this has no effect.
    images.push(Resize{1, "large"}).value();
    images.push({"mail", {"images are ready"}}, {.delay = rm::Duration{100}, .attempts_max = 5})
        .value();

    std::stop_source stopping;  // A service would request a stop at SIGTERM.
    std::atomic<int> resized{0};

    rm::WorkerPool pool{*store,
                        {.queues = {"images"},
                         .threads = 4,
                         .retry = {.wait_first = rm::Duration{50},
                                   .rules = {rm::bury_on<std::invalid_argument>()}}}};
    pool.handle<Resize>([&](const Resize& resize, rm::JobContext& job) {
        if (resize.image == 2 && job.attempt() == 1) throw std::runtime_error{"the disk is full"};
        ++resized;
    });
    pool.handle("mail", [&](rm::JobContext& job) {
        if (resized < 3) throw rm::Snooze{rm::Duration{10}};  // Does not count as an attempt.
        std::cout << *job.arguments().at(0).get_if<std::string>() << '\n';
        stopping.request_stop();
    });
    pool.run(stopping.get_token());

    const bool all_done = images.status().value() == rm::QueueStatus{};
    std::cout << resized << " images resized\n";
    return all_done && resized == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
