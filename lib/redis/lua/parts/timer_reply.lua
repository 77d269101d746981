-- A timer as replies have it: its state, 0 for PENDING, 1 for FIRED, 2 for DEAD; its id; when it is
-- due, comes back or died; its event; how often it came back, and how often it may; and why it is
-- DEAD, or "".
local function timer_reply(state, id, at, event, reason)
    local count, max = retries_in(event)
    return {state, id, instant(at), event, count, max, reason or ''}
end
