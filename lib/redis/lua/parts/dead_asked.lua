-- Returns the DEAD batches of a subscriber for a step: the batch `uid`, or, for "", the first
-- `limit` batches in the order in which they died.
local function dead_asked(token, uid, limit)
    local key = P .. 'routemaster:dead:' .. token
    if uid == '' then return redis.call('ZRANGE', key, 0, limit - 1) end
    if redis.call('ZSCORE', key, uid) then return {uid} end
    return {}
end
