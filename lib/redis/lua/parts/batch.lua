-- Ends a batch, with the gauges, and makes room for the next of its lane.
local function remove_batch(uid, token)
    local list = P .. 'batches:' .. uid
    local events = math.max(redis.call('LLEN', list) - 3, 0)
    redis.call('DEL', list)
    redis.call('ZREM', P .. 'batches:index', uid)
    redis.call('SREM', P .. 'batches:current:' .. token, uid)
    redis.call('HINCRBY', P .. 'batches:gauges:batch', token, -1)
    redis.call('HINCRBY', P .. 'batches:gauges:event', token, -events)
    count('events.removed', token, events)
    leave(token, uid)
end
