/// @file
/// Error handling: a result contains a value, or an error with a code that tells how to react.

#include <cstdlib>
#include <future>
#include <iostream>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

namespace {

/// Reacts to a result by its error code.
void report(const rm::Result<void>& published) {
    if (published) {
        std::cout << "published\n";
        return;
    }
    const auto& error = published.error();
    if (error.retryable()) {
        std::cout << "later, perhaps: " << error.message() << '\n';
    } else if (error.code() == rm::Errc::timed_out) {
        std::cout << "it may have happened: " << error.message() << '\n';
    } else {
        std::cout << "never: " << error.message() << '\n';
    }
}

}  // namespace

int main() {
    auto store = rm::open_store("memory:").value();  // Throws `rm::Failure` on an error.
    rm::Bus shop{*store, {.publisher = "shop"}};
    rm::Bus rival{*store, {.publisher = "rival"}};
    const rm::Event order{
        .topic = "orders", .type = rm::EventType::create, .url = "https://shop.example/orders/42"};

    report(shop.publish(order));
    report(rival.publish(order));  // topic: belongs to another publisher: forbidden
    report(shop.publish({.topic = "Orders", .type = rm::EventType::noop, .url = order.url}));

    // The asynchronous form returns at once. The store may call the completion on one of its own
    // threads, so the completion must not block.
    std::promise<bool> replied;
    shop.publish(order, [&](const rm::Result<void>& published) {
        report(published);
        replied.set_value(published.has_value());
    });
    const bool done = replied.get_future().get();

    // An unknown subscriber is a normal reply, not an error.
    const auto removal = shop.subscriber("nobody").remove();
    return done && *removal == rm::Removal::unknown ? EXIT_SUCCESS : EXIT_FAILURE;
}
