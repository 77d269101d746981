-- Keys of jobs that are done, but still exclude equal keys. `routemaster:kept_keys` has queue,
-- colon and key, by the time at which each key ends.

-- Keeps the key of a job that is done until the time of the key is over. Forgets up to two keys
-- whose time is over. When there are 100,000 keys, also forgets the key that ends first.
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
