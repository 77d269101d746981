#include "core/jobs/work/pool/handler_table.hpp"

#include <exception>
#include <new>
#include <utility>

#include "core/jobs/work/pool/response.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {
namespace {

/// Converts the exception being handled to the end of an attempt. Allocates no memory.
JobVerdict verdict_of_current(const RetryPolicy& policy) {
    try {
        try {
            throw;
        } catch (const std::exception& error) {
            return verdict_of(error, policy);
        } catch (...) {
            return failed_verdict("the handler threw something other than an exception");
        }
    } catch (const std::bad_alloc&) {
        return failed_verdict("out of memory");
    }
}

std::shared_ptr<Response> new_response(const std::shared_ptr<JobBoard>& board,
                                       std::shared_ptr<const HandlerTable> handlers,
                                       const AttemptPtr& attempt) {
    try {
        return std::make_shared<Response>(board, std::move(handlers), attempt);
    } catch (const std::bad_alloc&) {
        board->end(attempt, failed_verdict("out of memory"));
        return nullptr;
    }
}

}  // namespace

void HandlerTable::add(std::string name, Handler handler) {
    if (name.empty()) throw Failure{Error{Errc::invalid, "name: must not be empty"}};
    if (!handler.handle && !handler.begin) {
        throw Failure{Error{Errc::invalid, "handler: the handler for '" + name + "' is empty"}};
    }
    if (!handlers_.emplace(name, std::move(handler)).second) {
        throw Failure{Error{Errc::invalid, "name: there is a handler for '" + name + "' already"}};
    }
}

void HandlerTable::add_other(Handler handler) {
    if (!handler.handle)
        throw Failure{Error{Errc::invalid, "handler: the handler for other jobs is empty"}};
    if (other_) throw Failure{Error{Errc::invalid, "handler: other jobs already have a handler"}};
    other_.emplace(std::move(handler));
}

const Handler* HandlerTable::find(const std::string& name) const {
    const auto place = handlers_.find(name);
    if (place != handlers_.end()) return &place->second;
    return other_ ? &*other_ : nullptr;
}

void HandlerTable::describe(WorkerProfile& profile) const {
    std::vector<std::string> names;
    names.reserve(handlers_.size());
    for (const auto& [name, handler] : handlers_) names.push_back(name);
    profile.list_handlers(std::move(names));
    profile.others = other_ ? WorkerProfile::Others::handled : WorkerProfile::Others::refused;
}

void HandlerTable::run(const AttemptPtr& attempt, const std::shared_ptr<JobBoard>& board) const {
    if (attempt->handler.begin) return begin(attempt, board);
    board->end(attempt, handle(*attempt));
}

JobVerdict HandlerTable::handle(Attempt& attempt) const {
    const auto& handler = attempt.handler;
    try {
        if (middleware_.empty()) {
            handler.handle(attempt.context);
        } else {
            inside(0, attempt.context, [&] { handler.handle(attempt.context); });
        }
        return {};
    } catch (...) {
        return verdict_of_current(handler.retry);
    }
}

void HandlerTable::begin(const AttemptPtr& attempt, const std::shared_ptr<JobBoard>& board) const {
    const auto response = new_response(board, shared_from_this(), attempt);
    if (response == nullptr) return;
    bool begun = false;
    try {
        inside(0, attempt->context, [&] {
            begun = true;
            attempt->handler.begin(JobResponder{response});
        });
        if (!begun) response->report({});
    } catch (...) {
        response->report(verdict_of_current(attempt->handler.retry));
    }
}

void HandlerTable::inside(std::size_t layer, JobContext& context,
                          const std::function<void()>& innermost) const {
    if (layer == middleware_.size()) return innermost();
    middleware_[layer](context, [&] { inside(layer + 1, context, innermost); });
}

}  // namespace routemaster::detail
