-- How many of the first batches of a group may be under way before any was delivered.
local group_start = 16

-- How many of the first batches of a group may be under way, and how many its subscriber asked for.
-- The window has worked so far, and workers have capacity for it; it is absent at its initial size.
local function concurrency_in(max_in_flight, window)
    local concurrency = tonumber(max_in_flight) or 1
    return math.max(1, math.min(concurrency, tonumber(window) or group_start)), concurrency
end
local function concurrency_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'max_in_flight', 'window')
    return concurrency_in(known[1], known[2])
end
