/// @file
/// A program that opens a store in a file, and could deliver over HTTP.

#include "routemaster/open_store.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/transport/http.hpp"

int main() {
    const auto store = routemaster::open_store("file:consumer.db");
    const routemaster::HttpTransport transport;
    return store ? 0 : 1;
}
