#include "routemaster/timer_handler.hpp"

#include "core/timers/work/timer_response.hpp"

namespace routemaster {

TimerContext& TimerResponder::timer() const noexcept { return response_->timer(); }

void TimerResponder::confirm() const { response_->confirm(); }

void TimerResponder::fail(const std::string& error) const { response_->fail(error); }

void TimerResponder::reject(const std::string& error) const { response_->fail(error, true); }

}  // namespace routemaster
