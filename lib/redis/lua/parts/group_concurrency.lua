-- The initial window: how many batches of a group may be under delivery before any was delivered.
local group_start = 16

-- Returns how many batches of an ordering group may be under delivery concurrently, and
-- `max_in_flight`. `window` is an adaptive limit, absent at its initial value. The window grows
-- with successes up to the capacity of the workers.
local function concurrency_in(max_in_flight, window)
    local concurrency = tonumber(max_in_flight) or 1
    return math.max(1, math.min(concurrency, tonumber(window) or group_start)), concurrency
end
local function concurrency_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'max_in_flight', 'window')
    return concurrency_in(known[1], known[2])
end
