#include "routemaster/store/memory.hpp"
#include "register.hpp"

using namespace routemaster;

static const test::Conformance memory{"memory", {[] { return std::make_unique<MemoryStore>(); }}};
