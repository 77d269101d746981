/// @file
/// A program that opens a store in a file, could deliver over HTTP, and lives in a simulated world.

#include "routemaster/open_store.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/testing/simulation.hpp"
#include "routemaster/transport/http.hpp"

int main() {
    const auto store = routemaster::open_store("file:consumer.db");
    const routemaster::HttpTransport transport;
    routemaster::testing::World world{1};
    world.run();
    return store ? 0 : 1;
}
