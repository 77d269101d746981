#include "index_repair.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lua_sources.hpp"
#include "request.hpp"
#include "wire.hpp"

namespace routemaster::redis {
namespace {

/// A listing whose index is repaired if necessary. The object is destroyed after its last call.
class Listing : public std::enable_shared_from_this<Listing> {
public:
    Listing(const Call& call, Link& link, std::string_view prefix, std::string_view names)
        : link_{link},
          prefix_{prefix},
          names_{names},
          script_{call.script},
          arguments_{call.arguments},
          done_{call.done} {}

    void listed(CallResult result) {
        const bool is_behind = result && (*result)->type == REDIS_REPLY_INTEGER;
        if (is_behind) return repair("source 0");
        done_(std::move(result));
    }

private:
    void repair(std::string_view cursor) {
        Call call{.script = &index_repair_script(),
                  .done = [self = shared_from_this()](const CallResult& result) {
                      self->repaired(result);
                  }};
        call.arguments.add(1).add(prefix_ + names_).add(prefix_).add(0);
        call.arguments.add(fleet_kind(prefix_, false)).add(names_).add(cursor);
        link_.send({&call, 1});
    }

    void repaired(const CallResult& result) {
        if (!result) return done_(result.error());
        if (const auto cursor = text_of(**result); !cursor.empty()) return repair(cursor);
        Call again{.script = script_, .arguments = arguments_.add("1"), .done = std::move(done_)};
        link_.send({&again, 1});
    }

    Link& link_;
    const std::string prefix_;
    const std::string names_;
    const Script* script_;
    Arguments arguments_;
    std::function<void(CallResult)> done_;
};

}  // namespace

const Script& index_repair_script() {
    // `frees` makes Redis run the script even when its memory is full. An operator may need a
    // listing to find the cause.
    static const Script& script =
        *new const Script{compose("repair_index", ScriptKind::frees, {}, lua::repair_index)};
    return script;
}

Call with_index_repair(Call call, Link& link, std::string_view prefix, std::string_view names) {
    call.done = [listing = std::make_shared<Listing>(call, link, prefix, names)](
                    CallResult result) { listing->listed(std::move(result)); };
    return call;
}

}  // namespace routemaster::redis
