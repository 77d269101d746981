-- The DEAD timers that a step asks for: ARGV[5] is an id, or "" for all, of which 1,000 are meant.
-- Calls `done` with the id and the event of each, which is DEAD no more. Returns how many. One in
-- whose place Node posted another is gone.
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
