-- FindTimer: returns a timer of any state.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id
-- Reply: timer_reply(), or nil when the timer does not exist.
local id = ARGV[5]
local event = redis.call('HGET', events, id)
if event then
    for state, key in ipairs({pending, fired}) do
        local at = redis.call('ZSCORE', key, id)
        if at then return timer_reply(state - 1, id, at, event) end
    end
end
local at, last = redis.call('ZSCORE', dead, id), redis.call('HGET', dead_events, id)
if at and last then
    return timer_reply(2, id, at, last, redis.call('HGET', dead_events, '\0' .. id))
end
return false
