#include "core/codec/push_fingerprint.hpp"

#include <type_traits>

#include "routemaster/time.hpp"

namespace routemaster::detail {
namespace {

/// Hash function FNV-1a with 64 bits (Fowler, Noll, Vo), over numbers and over texts with their
/// lengths.
class Fingerprint {
public:
    void add(std::string_view text) noexcept {
        add(text.size());
        for (const char byte : text) take(static_cast<unsigned char>(byte));
    }
    template <class Integer>
        requires(std::is_integral_v<Integer> || std::is_enum_v<Integer>)
    void add(Integer number) noexcept {
        auto bits = static_cast<std::uint64_t>(number);
        for (int i = 0; i < 8; ++i, bits >>= 8U) take(bits & 0xffU);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    void take(std::uint64_t byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3U; }

    std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

std::uint64_t push_fingerprint(std::string_view job, const PushOptions& options) {
    Fingerprint all;
    all.add(job);
    all.add(options.delay.count());
    all.add(options.run_at ? to_milliseconds(*options.run_at) : -1);
    all.add(options.attempts_max);
    all.add(options.priority);
    all.add(options.timeout.count());
    all.add(options.expires.count());
    all.add(options.unique.by);
    all.add(options.unique.key);
    all.add(options.unique.scope);
    all.add(options.unique.time.count());
    all.add(options.unique.on_duplicate);
    all.add(options.metadata.size());
    for (const auto& [name, text] : options.metadata) {
        all.add(name);
        all.add(text);
    }
    all.add(options.group);
    all.add(options.concurrency);
    all.add(options.batch);
    for (const auto id : options.after) all.add(id);
    return all.value();
}

}  // namespace routemaster::detail
