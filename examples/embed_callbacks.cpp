/// @file
/// An event bus inside one program: several subscribers with callbacks, and events in a file. One
/// subscriber fails at first, and its batch is delivered again.

#include <cstdlib>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

namespace {

constexpr int orders = 25;

std::string order_url(int number) {
    return "https://shop.example/orders/" + std::to_string(number);
}

/// Collects the URLs of events until all events have arrived.
class Inbox {
public:
    void take(const rm::Batch& batch) {
        for (const auto& event : batch.events) urls_.push_back(event.url);
        std::cout << batch.subscriber << " got " << batch.events.size() << " events, attempt "
                  << batch.attempt << '\n';
        if (urls_.size() == orders) complete_.set_value();
    }

    /// Waits, then returns whether each event arrived once and in order.
    bool complete_in_order() {
        complete_.get_future().wait();
        for (int i = 0; i < orders; ++i) {
            if (urls_[static_cast<std::size_t>(i)] != order_url(i)) return false;
        }
        return true;
    }

private:
    std::vector<std::string> urls_;  // Only one callback at a time uses it.
    std::promise<void> complete_;
};

}  // namespace

int main() {
    auto store = rm::open_store("file:embed_callbacks.db").value();
    rm::Bus bus{*store, {.publisher = "shop"}};

    Inbox billing;
    Inbox search;
    bus.subscriber("billing")
        .subscribe({"orders"}, [&](const rm::Batch& batch) { billing.take(batch); },
                   {.timeout = rm::Duration{50}, .max_events = 10})
        .value();
    bus.subscriber("search")
        .subscribe({"orders"},
                   [&](const rm::Batch& batch) {
                       if (batch.attempt == 1) throw std::runtime_error{"the index is busy"};
                       search.take(batch);
                   },
                   {.timeout = rm::Duration{50}, .max_events = 10})
        .value();

    rm::DeliveryWorker worker{bus, {.callback_threads = 2}};

    for (int i = 0; i < orders; ++i) {
        bus.publish({.topic = "orders", .type = rm::EventType::create, .url = order_url(i)})
            .value();
    }

    const bool in_order = billing.complete_in_order() && search.complete_in_order();
    worker.stop(rm::Duration{1'000});
    std::cout << (in_order ? "all arrived in order\n" : "out of order\n");
    return in_order ? EXIT_SUCCESS : EXIT_FAILURE;
}
