// The baseline of the delivery benchmarks: posts the same batches as `bench_drain` with libcurl's
// multi interface alone, without store, queue and dispatcher.
//
//   bench_curl_posts --receiver URL --in-flight N --events N --max-events N
//
// There are `--in-flight` subscribers, each with a connection and one post under way. All bodies
// are built before the measurement. Prints one JSON line.

#include <curl/curl.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "batches.hpp"
#include "options.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace {

namespace rm = routemaster;

struct Settings {
    std::string receiver;
    unsigned in_flight = 1;
    std::uint64_t events = 200'000;  ///< Total of all subscribers.
    std::uint32_t max_events = 100;
};

void require(bool good, const char* what) {
    if (!good) throw std::runtime_error{what};
}

/// The bodies for each subscriber, in order.
std::vector<std::string> make_bodies(const Settings& settings) {
    const auto now = rm::system_clock().now();
    const auto published = settings.events / settings.in_flight;
    std::vector<std::string> bodies;
    for (std::uint64_t n = 0; n < published;) {
        rm::MessageList messages;
        while (n < published && messages.size() < settings.max_events) {
            messages.append(rm::encode_message(bench::order_event(++n), now));
        }
        bodies.push_back(rm::delivery_body(messages).json);
    }
    return bodies;
}

/// A subscriber: a handle for its batches, which are posted in order.
class Poster {
public:
    Poster(const Settings& settings, unsigned number, const curl_slist* headers,
           const std::vector<std::string>& bodies)
        : bodies_{bodies}, handle_{curl_easy_init()} {
        require(handle_ != nullptr, "libcurl: out of memory");
        const auto url = settings.receiver + "/" + bench::subscriber_name(number);
        curl_easy_setopt(handle(), CURLOPT_URL, url.c_str());
        curl_easy_setopt(handle(), CURLOPT_PRIVATE, this);
        curl_easy_setopt(handle(), CURLOPT_POST, 1L);
        curl_easy_setopt(handle(), CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(handle(), CURLOPT_USERPWD, ":x");
        curl_easy_setopt(handle(), CURLOPT_TCP_NODELAY, 1L);
        curl_easy_setopt(handle(), CURLOPT_NOSIGNAL, 1L);
    }

    [[nodiscard]] CURL* handle() const { return handle_.get(); }

    /// Prepares the next batch. Returns false when there is none left.
    bool next() {
        if (posted_ == bodies_.size()) return false;
        const auto& body = bodies_[posted_++];
        curl_easy_setopt(handle(), CURLOPT_POSTFIELDS, body.data());
        curl_easy_setopt(handle(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
        return true;
    }

private:
    struct Cleanup {
        void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    };

    const std::vector<std::string>& bodies_;
    std::size_t posted_ = 0;
    std::unique_ptr<CURL, Cleanup> handle_;
};

void check(const CURLMsg& message) {
    if (message.data.result != CURLE_OK) {
        throw std::runtime_error{curl_easy_strerror(message.data.result)};
    }
    long status = 0;
    curl_easy_getinfo(message.easy_handle, CURLINFO_RESPONSE_CODE, &status);
    require(status == 204, "the receiver answered something else than 204");
}

/// Posts all batches of all subscribers.
void post_all(CURLM* multi, std::vector<std::unique_ptr<Poster>>& posters) {
    std::size_t open = posters.size();
    for (auto& poster : posters) {
        poster->next();
        curl_multi_add_handle(multi, poster->handle());
    }
    while (open > 0) {
        int running = 0;
        require(curl_multi_perform(multi, &running) == CURLM_OK, "curl_multi_perform");
        int left = 0;
        bool ended = false;
        while (const CURLMsg* const message = curl_multi_info_read(multi, &left)) {
            check(*message);
            ended = true;
            Poster* poster = nullptr;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &poster);
            curl_multi_remove_handle(multi, poster->handle());
            poster->next() ? static_cast<void>(curl_multi_add_handle(multi, poster->handle()))
                           : static_cast<void>(--open);
        }
        if (!ended && open > 0) curl_multi_poll(multi, nullptr, 0, 1'000, nullptr);
    }
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run(const Settings& settings) {
    struct Free {
        void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
        void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
    };
    require(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "libcurl: cannot be set up");
    std::unique_ptr<curl_slist, Free> headers{
        curl_slist_append(nullptr, "Content-Type: application/json")};
    curl_slist_append(headers.get(), "Expect:");
    std::unique_ptr<CURLM, Free> multi{curl_multi_init()};
    require(headers && multi, "libcurl: out of memory");

    const auto bodies = make_bodies(settings);
    std::vector<std::unique_ptr<Poster>> posters;
    for (unsigned n = 0; n < settings.in_flight; ++n) {
        posters.push_back(std::make_unique<Poster>(settings, n, headers.get(), bodies));
    }
    const auto cpu_before = cpu_seconds();
    const auto begun = std::chrono::steady_clock::now();
    post_all(multi.get(), posters);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    std::cout << R"({"events":)" << settings.events << R"(,"deliveries":)"
              << bodies.size() * posters.size() << R"(,"seconds":)" << seconds.count()
              << R"(,"cpu_seconds":)" << cpu_seconds() - cpu_before << "}" << std::endl;
    posters.clear();
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Posts batches with libcurl alone", "curl_posts"};
    options.add("--receiver", settings.receiver, "URL").required();
    options.add("--in-flight", settings.in_flight, "Posts at once");
    options.add("--events", settings.events, "Posted in all");
    options.add("--max-events", settings.max_events, "In a batch");
    return options.run(argc, argv, [&settings] { run(settings); });
}
