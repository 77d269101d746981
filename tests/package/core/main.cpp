/// @file
/// A program that needs only the core.

#include "routemaster/routemaster.hpp"

int main() {
    const routemaster::Error error{make_error_code(routemaster::Errc::invalid), "topic"};
    // Calls into the library, to check that its own dependencies were found.
    const auto checked = routemaster::check_url("https://shop.example/orders/42", "url");
    routemaster::MemoryStore store;
    routemaster::Bus bus{store};
    const routemaster::DeliveryWorker worker{bus};
    return error.retryable() || !checked || worker.trouble() ? 1 : 0;
}
