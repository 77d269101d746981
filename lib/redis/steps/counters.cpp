#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<AddToCounters> {
    static Script script() {
        return compose(AddToCounters::traits, {lua::index}, lua::add_to_counters);
    }
    static void request(Request& request, const AddToCounters& step) {
        request.on("counters");
        for (const auto& [key, increment] : step.increments) {
            request.arguments().add(encode_counter_key(key)).add(increment);
        }
    }
    static Done reply(const ScriptReply&) { return {}; }
};

template <>
struct StepProtocol<ListCounters> {
    static constexpr std::string_view listed_names = "counters";

    static Script script() {
        return compose(ListCounters::traits, {lua::page}, lua::list_counters);
    }
    static void request(Request& request, const ListCounters& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<Counter> reply(const ScriptReply& reply) {
        std::vector<Counter> counters;
        const auto parts = items(reply.value);
        for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
            // Fields that neither routemaster nor Ruby Routemaster can have written are omitted.
            auto key = decode_counter_key(text(*parts[i]));
            if (key) counters.push_back({*std::move(key), number(*parts[i + 1])});
        }
        return counters;
    }
};

template struct Protocols<CounterSteps>;

}  // namespace routemaster::redis
