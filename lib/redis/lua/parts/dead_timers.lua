-- Handles the DEAD timers that a step names: ARGV[5] is an id, or "" for up to 1,000 timers.
-- Removes each from the DEAD timers and calls `done` with its id and event. If Node has posted a
-- timer with the same id, the DEAD timer is removed without a call. Returns the number of calls.
local function each_dead(done)
    local ids = {ARGV[5]}
    if ARGV[5] == '' then ids = redis.call('ZRANGE', dead, 0, 999) end
    local total = 0
    for _, id in ipairs(ids) do
        if redis.call('ZREM', dead, id) == 1 then
            local event = redis.call('HGET', dead_events, id)
            redis.call('HDEL', dead_events, id, '\0' .. id)
            if event and redis.call('HEXISTS', events, id) == 0 then
                done(id, event)
                total = total + 1
            end
        end
    end
    return total
end
