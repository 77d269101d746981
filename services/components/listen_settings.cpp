#include "components/listen_settings.hpp"

#include <iostream>

#include "components/whole_number.hpp"

namespace routemaster::service {

void declare_listening(CLI::App& app, ListenSettings& settings, const std::string& listen_variable,
                       const std::string& port_variable) {
    app.add_option_function<std::string>(
           "--listen",
           [&settings](const std::string& text) {
               auto endpoint = parse_endpoint(text);
               if (!endpoint) throw CLI::ValidationError("--listen", endpoint.error().context());
               settings.endpoint = *std::move(endpoint);
           },
           "Where to listen; port 0 takes a free one [127.0.0.1]")
        ->type_name("ADDRESS[:PORT]")
        ->envname(listen_variable);
    app.add_option("--port", settings.port, "Port, if --listen has none")
        ->check(whole_number(0, 65'535))
        ->envname(port_variable)
        ->capture_default_str();
}

void announce_listening(const std::string& address, std::uint16_t port) {
    std::cout << "routemaster: listening on " << url_of(address, port) << std::endl;
}

}  // namespace routemaster::service
