-- What is told of a subscriber: token, callback, uuid, timeout, max_events, max_in_flight,
-- health_points, last_attempted_at, events queued, batches queued, topics. Absent is nil.
local function status_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid', 'timeout',
        'max_events', 'max_in_flight', 'health_points', 'last_attempted_at')
    return {token, known[1], known[2], known[3], known[4], known[5], known[6], known[7],
        redis.call('HGET', P .. 'batches:gauges:event', token),
        redis.call('HGET', P .. 'batches:gauges:batch', token),
        redis.call('SMEMBERS', P .. 'topics:' .. token)}
end
