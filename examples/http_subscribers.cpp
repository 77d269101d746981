/// @file
/// Delivers events to subscribers over HTTP. The receiver is part of this program, but any web
/// server that responds to POST with a 2xx is suitable.

#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <routemaster/open_store.hpp>
#include <routemaster/routemaster.hpp>
#include <routemaster/server/http_server.hpp>
#include <routemaster/transport/http.hpp>

namespace rm = routemaster;

namespace {

constexpr int events = 6;
constexpr const char* expected[] = {
    R"([{"topic":"orders","type":"create","url":"https://shop.example/orders/1","t":1000},)"
    R"({"topic":"orders","type":"create","url":"https://shop.example/orders/2","t":2000},)"
    R"({"topic":"orders","type":"create","url":"https://shop.example/orders/3","t":3000}])",
    R"([{"topic":"orders","type":"create","url":"https://shop.example/orders/4","t":4000},)"
    R"({"topic":"orders","type":"create","url":"https://shop.example/orders/5","t":5000},)"
    R"({"topic":"orders","type":"create","url":"https://shop.example/orders/6","t":6000}])"};

}  // namespace

int main() {
    std::vector<std::string> batches;  // Not concurrent: a batch waits for the last response.
    std::promise<void> complete;
    rm::HttpServer receiver{{},
                            [&](const rm::HttpRequest& request, const rm::HttpResponder& respond) {
                                std::cout << request.path << " <- " << request.body << '\n';
                                batches.push_back(request.body);
                                respond({204, {}, {}, {}});
                                if (batches.size() == std::size(expected)) complete.set_value();
                            }};

    auto store = rm::open_store("file:http_subscribers.db").value();
    rm::Bus bus{*store};
    bus.subscriber("billing")
        .subscribe({"orders"},
                   {.callback = "http://127.0.0.1:" + std::to_string(receiver.port()) + "/events",
                    .uuid = "billing",
                    .max_events = 3})
        .value();
    for (int i = 1; i <= events; ++i) {
        bus.publish({.topic = "orders",
                     .type = rm::EventType::create,
                     .url = "https://shop.example/orders/" + std::to_string(i),
                     .timestamp = rm::from_milliseconds(i * 1'000)})
            .value();
    }

    // By default, callbacks must use https and must not be on this machine.
    const rm::HttpTransportOptions options{.allow_http = true, .allow_loopback = true};
    rm::DeliveryWorker worker{bus, {.transports = {std::make_shared<rm::HttpTransport>(options)}}};
    complete.get_future().wait();
    worker.stop(rm::Duration{1'000});

    for (std::size_t i = 0; i < std::size(expected); ++i) {
        if (batches[i] != expected[i]) {
            std::cerr << "unexpected batch: " << batches[i] << '\n';
            return EXIT_FAILURE;
        }
    }
    std::cout << "both batches arrived, in order\n";
    return EXIT_SUCCESS;
}
