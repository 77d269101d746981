-- DEAD batches. `routemaster:dead_batch:{uid}` is what `batches:{uid}` was, behind the error;
-- `routemaster:dead:{token}` and `routemaster:dead` tell when each died.

-- Refuses a step before it changes anything of the DEAD batches of a subscriber.
local function expect_dead(token)
    expect('ZCARD', 'routemaster:dead', 'routemaster:dead:' .. token)
    expect('HLEN', 'counters')
end

-- How many events a DEAD batch has, and whether its list is one: else it has none.
local function events_of_dead(uid)
    local length = redis.pcall('LLEN', P .. 'routemaster:dead_batch:' .. uid)
    if type(length) ~= 'number' then return 0, false end
    return math.max(length - 4, 0), true
end

-- Drops a DEAD batch; returns how many events it had. What is no list stays where it is.
local function drop_dead(uid, token)
    local events, is_list = events_of_dead(uid)
    if is_list then redis.call('DEL', P .. 'routemaster:dead_batch:' .. uid) end
    redis.call('ZREM', P .. 'routemaster:dead', uid)
    redis.call('ZREM', P .. 'routemaster:dead:' .. token, uid)
    count('events.dead_dropped', token, events)
    return events
end
