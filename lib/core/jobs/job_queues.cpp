#include "routemaster/job_queues.hpp"

#include <utility>

#include "routemaster/names.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step/check.hpp"

namespace routemaster {
namespace {

/// Lists the queues whose names are at least `name`. `ListQueues` starts after a given name, so
/// this function passes the greatest possible name below `name`. No name contains the byte 0x7f.
ListQueues from(std::string name) {
    --name.back();
    name.append(name_length_max, '\x7f');
    return {{.after = std::move(name), .limit = 1}};
}

bool is_listed(const std::vector<ListedQueue>& found, const std::string& name) {
    return !found.empty() && found.front().name == name;
}

ListedQueue unlisted(const std::string& name, const QueueWorkers& workers) {
    return {.name = name,
            .workers = workers.workers,
            .unprofiled = workers.unprofiled,
            .worker_at = workers.last_at};
}

}  // namespace

Result<std::vector<ListedQueue>> JobQueues::list(Page page) const {
    return perform(store_, ListQueues{std::move(page)}, clock_.now());
}

void JobQueues::list(Page page, std::function<void(Result<std::vector<ListedQueue>>)> done) const {
    submit(store_, ListQueues{std::move(page)}, clock_.now(), std::move(done));
}

Result<ListedQueue> JobQueues::find(const std::string& name) const {
    if (auto checked = check_queue(name); !checked) return checked.error();
    const auto found = perform(store_, from(name), clock_.now());
    if (!found) return found.error();
    if (is_listed(*found, name)) return found->front();
    const auto workers = perform(store_, FindQueueWorkers{name}, clock_.now());
    return workers ? Result<ListedQueue>{unlisted(name, *workers)} : workers.error();
}

void JobQueues::find(const std::string& name, std::function<void(Result<ListedQueue>)> done) const {
    if (auto checked = check_queue(name); !checked) return done(checked.error());
    submit(store_, from(name), clock_.now(),
           [&store = store_, &clock = clock_, name,
            done = std::move(done)](const Result<std::vector<ListedQueue>>& found) mutable {
               if (!found) return done(found.error());
               if (is_listed(*found, name)) return done(found->front());
               submit(store, FindQueueWorkers{name}, clock.now(),
                      [name, done = std::move(done)](const Result<QueueWorkers>& workers) {
                          done(workers ? Result<ListedQueue>{unlisted(name, *workers)}
                                       : workers.error());
                      });
           });
}

Result<QueueThroughput> JobQueues::throughput(const std::string& name) const {
    return perform(store_, MeasureThroughput{name}, clock_.now());
}

void JobQueues::throughput(const std::string& name,
                           std::function<void(Result<QueueThroughput>)> done) const {
    submit(store_, MeasureThroughput{name}, clock_.now(), std::move(done));
}

}  // namespace routemaster
