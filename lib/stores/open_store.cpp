#include "routemaster/open_store.hpp"

#include <string>
#include <utility>

#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"

namespace routemaster {
namespace {

constexpr std::string_view memory_url = "memory:";
constexpr std::string_view file_scheme = "file:";

Error invalid(std::string_view url, std::string_view why) {
    return {Errc::invalid, "store URL '" + std::string{url} + "': " + std::string{why}};
}

Result<std::unique_ptr<Store>> open_file(std::string_view url, Log log) {
    auto path = url.substr(file_scheme.size());
    EmbeddedStoreOptions options{.log = std::move(log)};
    if (const auto query = path.find('?'); query != std::string_view::npos) {
        const auto setting = path.substr(query + 1);
        path = path.substr(0, query);
        if (setting == "durability=relaxed") {
            options.durability = Durability::relaxed;
        } else if (setting != "durability=strict") {
            return invalid(url, "the only setting is durability=strict or durability=relaxed");
        }
    }
    if (path.starts_with("//")) path.remove_prefix(2);
    if (path.empty()) return invalid(url, "names no file");
    try {
        return std::unique_ptr<Store>{std::make_unique<EmbeddedStore>(path, std::move(options))};
    } catch (const Failure& failure) {
        return failure.error();
    }
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view url, Log log) {
    if (url == memory_url) return std::unique_ptr<Store>{std::make_unique<MemoryStore>()};
    if (url.starts_with(file_scheme)) return open_file(url, std::move(log));
    return invalid(url, "begin it with memory: or file:");
}

}  // namespace routemaster
