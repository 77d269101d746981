-- Returns the status of a subscriber: token, callback, uuid, timeout, max_events, max_in_flight,
-- health_points, last_attempted_at, events queued, batches queued, topics, attempts_max, age_max,
-- dead_max, DEAD batches. Absent values are nil.
local function status_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid', 'timeout',
        'max_events', 'max_in_flight', 'health_points', 'last_attempted_at', 'attempts_max',
        'age_max', 'dead_max')
    return {token, known[1], known[2], known[3], known[4], known[5], known[6], known[7],
        redis.call('HGET', P .. 'batches:gauges:event', token),
        redis.call('HGET', P .. 'batches:gauges:batch', token),
        redis.call('SMEMBERS', P .. 'topics:' .. token), known[8], known[9], known[10],
        redis.call('ZCARD', P .. 'routemaster:dead:' .. token)}
end
