#include "components/root_key.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "components/byte_order_mark.hpp"

namespace routemaster::service {
namespace {

/// Reads the first line of a file. Throws `CLI::ValidationError` if the line is empty.
std::string read_key(const std::string& file) {
    const auto wrong = [&file](const std::string& why) {
        return CLI::ValidationError("--root-key-file", file + ": " + why);
    };
    errno = 0;
    std::ifstream stream{file};
    std::string line;
    if (!std::getline(stream, line) && errno != 0) {
        throw wrong(std::generic_category().message(errno));
    }
    remove_byte_order_mark(line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) throw wrong("its first line is empty");
    return line;
}

}  // namespace

void declare_root_key(CLI::App& app, RootKeySettings& settings) {
    app.add_option("--root-key", settings.key, "The operator's token")
        ->type_name("TOKEN")
        ->check([](const std::string& key) { return key.empty() ? "must not be empty" : ""; })
        ->envname("ROUTEMASTER_ROOT_KEY")
        ->group("Access");
    app.add_option("--root-key-file", settings.file,
                   "A file whose first line is the operator's token, instead of --root-key")
        ->type_name("FILE")
        ->excludes("--root-key")
        ->envname("ROUTEMASTER_ROOT_KEY_FILE")
        ->group("Access");
}

std::string find_root_key(const RootKeySettings& settings) {
    return settings.file.empty() ? settings.key : read_key(settings.file);
}

std::string require_root_key(const RootKeySettings& settings) {
    auto key = find_root_key(settings);
    if (key.empty()) throw CLI::RequiredError("--root-key or --root-key-file");
    return key;
}

}  // namespace routemaster::service
