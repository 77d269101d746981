/// @file
/// An object of a program that owns a bus and what delivers from it. The order of its members is
/// the order of lifetimes: what others use comes before them, and goes after them.

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
        // Callbacks first, then the runner: batches of the last run may be waiting for them.
        bus_.subscriber("billing")
            .subscribe({"orders"}, [this](const rm::Batch& batch) { bill(batch); })
            .value();
        runner_.emplace(dispatcher_);
    }

    /// Lets deliveries under way end, for up to five seconds. Without it they come again.
    ~Shop() { runner_->stop(rm::Duration{5'000}); }

    void sell(int order) {
        bus_.publish({.topic = "orders",
                      .type = rm::EventType::create,
                      .url = "https://shop.example/orders/" + std::to_string(order)})
            .value();
    }

    void wait_for_bill() { billed_.get_future().wait(); }

private:
    /// Runs on a thread of the transport, while `main` goes on.
    void bill(const rm::Batch& batch) {
        std::cout << "billing " << batch.events.front().url << '\n';
        billed_.set_value();
    }

    std::promise<void> billed_;         // What callbacks use outlives the transport.
    std::unique_ptr<rm::Store> store_;  // Used by all that follow.
    rm::Bus bus_{*store_, {.publisher = "shop"}};
    rm::LocalTransport transport_{bus_.callbacks()};
    rm::Dispatcher dispatcher_{*store_, {.transports = {&transport_}}};
    std::optional<rm::Runner> runner_;  // The thread that polls the dispatcher: ends first.
};

}  // namespace

int main() {
    Shop shop{"file:own_the_bus.db"};
    shop.sell(42);
    shop.wait_for_bill();
}
