#include <future>
#include <iostream>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

int main() {
    auto store = rm::open_store("file:shop.db").value();
    rm::Bus bus{*store};

    std::promise<rm::Event> arrived;
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const rm::Batch& batch) { arrived.set_value(batch.events.front()); },
                   {.max_events = 1})
        .value();

    bus.publish({.topic = "orders",
                 .type = rm::EventType::update,
                 .url = "https://shop.example/orders/42"})
        .value();  // From here on the event survives a crash.

    const rm::DeliveryWorker worker{bus};  // Calls the callbacks as long as it exists.
    std::cout << "billing got " << arrived.get_future().get().url << '\n';
}
