/// @file
/// What calls return: a value, or an error whose code says what to do.

#include <cstdlib>
#include <future>
#include <iostream>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>

namespace rm = routemaster;

namespace {

/// What a program may do with a result.
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
    auto store = rm::open_store("memory:").value();  // Throws rm::Failure if it cannot.
    rm::Bus shop{*store, {.publisher = "shop"}};
    rm::Bus rival{*store, {.publisher = "rival"}};
    const rm::Event order{
        .topic = "orders", .type = rm::EventType::create, .url = "https://shop.example/orders/42"};

    report(shop.publish(order));
    report(rival.publish(order));  // topic: belongs to another publisher: forbidden
    report(shop.publish({.topic = "Orders", .type = rm::EventType::noop, .url = order.url}));

    // Returns at once. The store may call the completion on a thread of its own, which must not
    // block.
    std::promise<bool> replied;
    shop.publish(order, [&](const rm::Result<void>& published) {
        report(published);
        replied.set_value(published.has_value());
    });
    const bool done = replied.get_future().get();

    // A result that is not a mistake is an outcome, not an error.
    const auto removal = shop.subscriber("nobody").remove();
    return done && *removal == rm::Removal::unknown ? EXIT_SUCCESS : EXIT_FAILURE;
}
