/// @file
/// An object that owns a bus and its worker. Members are constructed in the order of their
/// declarations, so each member is declared after all members that it uses.

#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

namespace {

class Shop {
public:
    explicit Shop(const std::string& store_url) : store_{rm::open_store(store_url).value()} {
        // Subscribe callbacks before the worker starts, because batches of the last run may be
        // queued for them.
        bus_.subscriber("billing")
            .subscribe({"orders"}, [this](const rm::Batch& batch) { bill(batch); })
            .value();
        worker_.emplace(bus_);
    }

    /// Deliveries in flight may continue for up to five seconds.
    ~Shop() { worker_->stop(rm::Duration{5'000}); }

    void sell(int order) {
        bus_.publish({.topic = "orders",
                      .type = rm::EventType::create,
                      .url = "https://shop.example/orders/" + std::to_string(order)})
            .value();
    }

    void wait_for_bill() { billed_.get_future().wait(); }

private:
    /// Runs on a thread of the worker, concurrently with `main`.
    void bill(const rm::Batch& batch) {
        std::cout << "billing " << batch.events.front().url << '\n';
        billed_.set_value();
    }

    std::promise<void> billed_;         // Used by callbacks, so it is destroyed after the worker.
    std::unique_ptr<rm::Store> store_;  // Used by the next members.
    rm::Bus bus_{*store_, {.publisher = "shop"}};
    std::optional<rm::DeliveryWorker> worker_;  // Calls the callbacks, so it is destroyed first.
};

}  // namespace

int main() {
    Shop shop{"file:own_the_bus.db"};
    shop.sell(42);
    shop.wait_for_bill();
}
