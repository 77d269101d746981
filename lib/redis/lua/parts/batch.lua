-- Checks the types of the keys that contain a batch, before a step changes any of them.
local function expect_ended_batch(token)
    expect('HLEN', 'counters', 'batches:gauges:batch', 'batches:gauges:event')
    expect('ZCARD', 'batches:index')
    expect('SCARD', 'batches:current:' .. token, 'jobs:index:main')
end

-- Checks the types of all keys of a batch, and of the queue with the deliveries of its ordering
-- group.
local function expect_batch(token)
    expect_queue('main')
    expect_ended_batch(token)
    expect('HLEN', 'subscriber:' .. token)
    expect('ZCARD', 'routemaster:group:' .. token)
end

-- Removes a batch from its ordering group. Unless the batch is alone in the group, the next blocked
-- batch becomes eligible.
local function leave(token, uid, is_alone)
    local group = P .. 'routemaster:group:' .. token
    redis.call('ZREM', group, uid)
    if is_alone then return end
    local edge = concurrency_of(token) - 1
    local next = redis.call('ZRANGE', group, edge, edge)[1]
    if next and not let_in(delivery_prefix .. next, token) and
        redis.call('EXISTS', P .. 'batches:' .. next) == 0 then
        begin_to_tidy(token)
    end
end

-- Removes a batch of `events` events from the queue of its subscriber and from its ordering group,
-- and updates the gauges. The list `batches:{uid}` is not removed.
local function dequeue(uid, token, events, is_alone)
    redis.call('ZREM', P .. 'batches:index', uid)
    redis.call('SREM', P .. 'batches:current:' .. token, uid)
    add(P .. 'batches:gauges:batch', token, -1)
    add(P .. 'batches:gauges:event', token, -events)
    count('events.removed', token, events)
    leave(token, uid, is_alone)
end

-- Removes a batch of `events` events completely, with its list and its marks.
local function remove_batch(uid, token, events, is_alone)
    redis.call('DEL', P .. 'batches:' .. uid, error_key(uid), unreadable_key(uid))
    dequeue(uid, token, events, is_alone)
end
