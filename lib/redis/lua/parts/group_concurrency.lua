-- The initial window: how many batches may be under way before any batch was delivered.
local group_start = 16

-- Returns how many of the first batches of an ordering group may be under way, and `max_in_flight`.
-- `window` is the number that has worked so far, within the capacity of the workers; absent at its
-- initial size.
local function concurrency_in(max_in_flight, window)
    local concurrency = tonumber(max_in_flight) or 1
    return math.max(1, math.min(concurrency, tonumber(window) or group_start)), concurrency
end
local function concurrency_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'max_in_flight', 'window')
    return concurrency_in(known[1], known[2])
end
