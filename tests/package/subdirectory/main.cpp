/// @file
/// A program with routemaster's sources in a subdirectory.

#include "routemaster/open_store.hpp"

int main() {
    const auto store = routemaster::open_store("memory:");
    return store ? 0 : 1;
}
