#include "routemaster/store/embedded.hpp"

#include "register.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;

namespace {

/// A store that removes its folder at the end. The slack is small, so that the journal is
/// compacted.
class Embedded final : public Store {
public:
    explicit Embedded(Durability durability, std::uint64_t memory_max = 0)
        : store_{folder_.path() / "bus.db",
                 {.durability = durability, .slack_max = 4'096, .memory_max = memory_max}} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        store_.submit(steps, now, std::move(done));
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    test::TemporaryFolder folder_;
    EmbeddedStore store_;
};

template <Durability durability>
std::unique_ptr<Store> open() {
    return std::make_unique<Embedded>(durability);
}

/// Payloads are evicted from memory as soon as they are on disk.
std::unique_ptr<Store> open_forgetful() {
    return std::make_unique<Embedded>(Durability::strict, 1);
}

template <Durability durability>
std::unique_ptr<Store> open_forwarded() {
    return std::make_unique<test::Behind<ForwardingStore>>(open<durability>());
}

const test::Conformance strict{"embedded", {open<Durability::strict>}};
const test::Conformance relaxed{"embedded, relaxed", {open<Durability::relaxed>}};
const test::Conformance forgetful{"embedded with little memory", {open_forgetful}};
const test::Conformance behind{"embedded behind a forwarder", {open_forwarded<Durability::strict>}};

}  // namespace
