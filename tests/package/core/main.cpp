/// @file
/// A program that needs nothing but the headers of the core.

#include "routemaster/routemaster.hpp"

int main() {
    const routemaster::Error error{make_error_code(routemaster::Errc::invalid), "topic"};
    return error.retryable() ? 1 : 0;
}
