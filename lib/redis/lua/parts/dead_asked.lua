-- The DEAD batches of a subscriber that a step names: the one with that uid, or for "" all, in the
-- order they died, at most `limit`.
local function dead_asked(token, uid, limit)
    local key = P .. 'routemaster:dead:' .. token
    if uid == '' then return redis.call('ZRANGE', key, 0, limit - 1) end
    if redis.call('ZSCORE', key, uid) then return {uid} end
    return {}
end
