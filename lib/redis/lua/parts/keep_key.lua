-- Keys of completed jobs that have not expired, and still exclude jobs with the same key.
-- `routemaster:kept_keys` has queue, colon and key, sorted by the expiry time.

-- Stores the key of a completed job until the key expires. Removes up to two expired keys. Beyond
-- 100,000 keys, also evicts the key that expires first.
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
