-- Stores how long a listener may take to confirm a timer. If Node's dtimer removes a timer, its
-- entry in `routemaster:confirm` remains. Each call therefore checks two random entries and removes
-- stale entries, which limits the share of stale entries to about half.
local function note_confirm(id, within)
    redis.call('HSET', confirm, id, within)
    for _, other in ipairs(redis.call('HRANDFIELD', confirm, 2)) do
        if redis.call('HEXISTS', events, other) == 0 and
            redis.call('HEXISTS', dead_events, other) == 0 then
            redis.call('HDEL', confirm, other)
        end
    end
end
