#include "routemaster/entropy.hpp"

#include <random>

namespace routemaster {

std::uint64_t entropy() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace routemaster
