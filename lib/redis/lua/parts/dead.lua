-- DEAD batches. `routemaster:dead_batch:{uid}` is a list of the error and the contents of
-- `batches:{uid}`. `routemaster:dead:{token}` and `routemaster:dead` have the batches, sorted by
-- the time of death.

-- Checks the types of all keys with DEAD batches of a subscriber, before a step changes any of
-- them.
local function expect_dead(token)
    expect('ZCARD', 'routemaster:dead', 'routemaster:dead:' .. token)
    expect('HLEN', 'counters')
end

-- Returns the number of events in a DEAD batch, and whether its key is a list. A key of another
-- type has no events.
local function events_of_dead(uid)
    local length = redis.pcall('LLEN', P .. 'routemaster:dead_batch:' .. uid)
    if type(length) ~= 'number' then return 0, false end
    return math.max(length - 4, 0), true
end

-- Drops a DEAD batch and returns the number of its events. A key of a wrong type is not removed.
local function drop_dead(uid, token)
    local events, is_list = events_of_dead(uid)
    if is_list then redis.call('DEL', P .. 'routemaster:dead_batch:' .. uid) end
    redis.call('DEL', P .. 'routemaster:unreadable:' .. uid)
    redis.call('ZREM', P .. 'routemaster:dead', uid)
    redis.call('ZREM', P .. 'routemaster:dead:' .. token, uid)
    count('events.dead_dropped', token, events)
    return events
end
