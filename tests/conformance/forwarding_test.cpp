#include "register.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/faulty_store.hpp"

using namespace routemaster;

/// Opens a `MemoryStore` behind a wrapper.
template <class Wrapper>
static std::unique_ptr<Store> open_behind() {
    return std::make_unique<test::Behind<Wrapper>>(std::make_unique<MemoryStore>());
}

static const test::Conformance forwarded{"memory behind a forwarder",
                                         {open_behind<ForwardingStore>}};
static const test::Conformance undisturbed{"memory behind a faulty store without faults",
                                           {open_behind<testing::FaultyStore>}};
