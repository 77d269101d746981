-- Keys that exclude other jobs though the job that had them is done: `routemaster:kept_keys` has
-- queue, colon and key of each, by when it ends.

-- A job is done: its key excludes others until its time is over. Forgets two of those whose time is
-- over, and beyond 100,000 the one that would end first.
local function keep_key(q, name)
    local keyed = keyed_of(q, name)
    if not keyed or keyed[3] ~= 2 or keyed[4] <= now or not has_key(q, name, keyed[2]) then
        return
    end
    local kept = P .. 'routemaster:kept_keys'
    local ended = redis.call('ZRANGE', kept, '-inf', now, 'BYSCORE', 'LIMIT', 0, 2)
    if #ended > 0 then redis.call('ZREM', kept, unpack(ended)) end
    if redis.call('ZCARD', kept) >= 100000 then
        local first = redis.call('ZPOPMIN', kept)[1]
        count('jobs.keys_forgotten', string.match(first, '^[^:]*'), 1)
    end
    redis.call('ZADD', kept, keyed[4], q .. ':' .. keyed[2])
end
