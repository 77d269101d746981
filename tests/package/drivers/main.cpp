/// @file
/// A program that links the drivers and the simulation.

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
