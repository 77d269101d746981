/// @file
/// Makes a doctest case of each conformance case, so that each is reported by its sentence.

#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "routemaster/store/step.hpp"
#include "routemaster/testing/store_conformance.hpp"

namespace routemaster::test {

/// The bodies of all registered cases, by their full names.
inline std::map<std::string, std::function<void()>, std::less<>>& conformance_bodies() {
    static std::map<std::string, std::function<void()>, std::less<>> bodies;
    return bodies;
}

/// doctest cases are functions without state, so this function looks up the current case.
inline void run_conformance_case() {
    const auto& body =
        conformance_bodies().find(doctest::getContextOptions()->currentTest->m_name)->second;
    CHECK_NOTHROW(body());
}

/// Registers the whole suite for a store, as `STORE: SENTENCE`. For a variable at namespace scope:
///
///     const Conformance memory{"memory", {[] { return std::make_unique<MemoryStore>(); }}};
class Conformance {
public:
    Conformance(const std::string& store, const testing::StoreFixture& fixture) {
        for (auto& one : testing::store_conformance()) {
            const auto place = conformance_bodies().emplace(
                store + ": " + one.name, [run = std::move(one.run), fixture] { run(fixture); });
            const char* name = place.first->first.c_str();
            doctest::detail::regTest(
                doctest::detail::TestCase{run_conformance_case, __FILE__, __LINE__, {}} * name);
        }
    }
};

/// Owns a store and a wrapper that refers to it.
template <class Wrapper>
class Behind final : public Store {
public:
    explicit Behind(std::unique_ptr<Store> store) : store_{std::move(store)}, wrapper_{*store_} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        wrapper_.submit(steps, now, std::move(done));
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return wrapper_.watch(queue, std::move(wake));
    }

private:
    std::unique_ptr<Store> store_;
    Wrapper wrapper_;
};

}  // namespace routemaster::test
