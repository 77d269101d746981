-- Returns the uids of the DEAD batches that a step names: the batch `uid`, or, if `uid` is "", the
-- first `limit` batches of the subscriber, oldest death first.
local function dead_asked(token, uid, limit)
    local key = P .. 'routemaster:dead:' .. token
    if uid == '' then return redis.call('ZRANGE', key, 0, limit - 1) end
    if redis.call('ZSCORE', key, uid) then return {uid} end
    return {}
end
