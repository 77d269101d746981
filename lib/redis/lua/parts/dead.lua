-- DEAD batches. `routemaster:dead_batch:{uid}` is what `batches:{uid}` was, behind the error;
-- `routemaster:dead:{token}` and `routemaster:dead` tell when each died.

-- Refuses a step before it changes anything of the DEAD batches of a subscriber.
local function expect_dead(token)
    expect('ZCARD', 'routemaster:dead', 'routemaster:dead:' .. token)
    expect('HLEN', 'counters')
end

-- How many events a DEAD batch has: none when its list is no list.
local function events_of_dead(uid)
    local length = redis.pcall('LLEN', P .. 'routemaster:dead_batch:' .. uid)
    return type(length) == 'number' and math.max(length - 4, 0) or 0
end

-- Drops a DEAD batch; returns how many events it had.
local function drop_dead(uid, token)
    local events = events_of_dead(uid)
    redis.call('DEL', P .. 'routemaster:dead_batch:' .. uid)
    redis.call('ZREM', P .. 'routemaster:dead', uid)
    redis.call('ZREM', P .. 'routemaster:dead:' .. token, uid)
    count('events.dead_dropped', token, events)
    return events
end
