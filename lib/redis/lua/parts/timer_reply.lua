-- Returns a timer as replies list it: state (0 PENDING, 1 FIRED, 2 DEAD); id; the time at which it
-- is due, will be retried, or died; event; number of retries so far; maximum number of retries; the
-- reason of a DEAD timer, or "".
local function timer_reply(state, id, at, event, reason)
    local count, max = retries_in(event)
    return {state, id, instant(at), event, count, max, reason or ''}
end
