/// @file
/// A program that has routemaster among its own sources.

#include "routemaster/open_store.hpp"

int main() {
    const auto store = routemaster::open_store("memory:");
    return store ? 0 : 1;
}
