-- Checks all keys of a batch and of the queue that delivers it, before a step changes any.
local function expect_batch(token)
    expect_queue('main')
    expect('HLEN', 'counters', 'batches:gauges:batch', 'batches:gauges:event',
        'subscriber:' .. token)
    expect('ZCARD', 'batches:index', 'routemaster:group:' .. token)
    expect('SCARD', 'batches:current:' .. token)
end

-- Removes a batch from its group, which frees a place for the next.
local function leave(token, uid)
    local group = P .. 'routemaster:group:' .. token
    redis.call('ZREM', group, uid)
    local edge = concurrency_of(token) - 1
    local next = redis.call('ZRANGE', group, edge, edge)[1]
    if next and not let_in(delivery_prefix .. next, token) and
        redis.call('EXISTS', P .. 'batches:' .. next) == 0 then
        begin_to_tidy(token)
    end
end

-- Removes a batch of `events` events from the queue of its subscriber, updates the gauges, and
-- frees a place for the next of its group. Its list stays.
local function dequeue(uid, token, events)
    redis.call('ZREM', P .. 'batches:index', uid)
    redis.call('SREM', P .. 'batches:current:' .. token, uid)
    add(P .. 'batches:gauges:batch', token, -1)
    add(P .. 'batches:gauges:event', token, -events)
    count('events.removed', token, events)
    leave(token, uid)
end

-- Ends a batch.
local function remove_batch(uid, token)
    local list = P .. 'batches:' .. uid
    local events = math.max(redis.call('LLEN', list) - 3, 0)
    redis.call('DEL', list, error_key(uid))
    dequeue(uid, token, events)
end
