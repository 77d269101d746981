#include "routemaster/job_queues.hpp"

#include <utility>

#include "routemaster/names.hpp"
#include "routemaster/perform.hpp"
#include "routemaster/step/check.hpp"

namespace routemaster {
namespace {

/// Asks for the first queue behind all names before this one. No name has a byte like the last of
/// the text, so only what begins with the name can follow it.
ListQueues from(std::string name) {
    --name.back();
    name.append(name_length_max, '\x7f');
    return {{.after = std::move(name), .limit = 1}};
}

/// The queue of that name, if the store has something to say of it.
ListedQueue taken(const std::vector<ListedQueue>& found, const std::string& name) {
    const bool there = !found.empty() && found.front().name == name;
    return there ? found.front() : ListedQueue{.name = name};
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
    return found ? Result<ListedQueue>{taken(*found, name)} : found.error();
}

void JobQueues::find(const std::string& name, std::function<void(Result<ListedQueue>)> done) const {
    if (auto checked = check_queue(name); !checked) return done(checked.error());
    submit(store_, from(name), clock_.now(),
           [name, done = std::move(done)](const Result<std::vector<ListedQueue>>& found) {
               done(found ? Result<ListedQueue>{taken(*found, name)} : found.error());
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
