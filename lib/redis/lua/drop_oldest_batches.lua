-- DropOldestBatches: drops the oldest DEAD batches, then the oldest queued batches and their jobs.
-- Skips batches whose delivery is in progress.
-- KEYS  1 batches:index
-- ARGV  1 prefix, 2 now, 3 fleet, 4 limit
-- Effect: checks at most 1,000 batches beyond the limit.
-- Reply: batches dropped, events dropped.

-- All keys are checked before the first change.
expect_queue('main')
expect('HLEN', 'counters', 'batches:gauges:batch', 'batches:gauges:event')
local limit = tonumber(ARGV[4])
local checked = {}

-- Returns the first `most` batches of an index with their subscribers. The subscriber is element
-- `place` of the batch's list. A batch that no longer exists has no subscriber.
local function first_of(index, most, list, place)
    local found = {}
    for i, uid in ipairs(redis.call('ZRANGE', index, 0, most - 1)) do
        local token = redis.pcall('LINDEX', P .. list .. uid, place)
        token = type(token) == 'string' and token
        if token and not checked[token] then
            checked[token] = true
            expect_dead(token)
            expect_batch(token)
        end
        found[i] = {uid, token}
    end
    return found
end

local dead = first_of(P .. 'routemaster:dead', limit, 'routemaster:dead_batch:', 1)
local waiting = first_of(KEYS[1], limit + 1000, 'batches:', 0)

local batches, events = 0, 0
local function dropped(token, size)
    count('events.autodropped', token, size)
    batches = batches + 1
    events = events + size
end
for _, one in ipairs(dead) do
    local uid, token = one[1], one[2]
    if token then
        dropped(token, drop_dead(uid, token))
    else
        redis.call('ZREM', P .. 'routemaster:dead', uid)
    end
end
for _, one in ipairs(waiting) do
    if batches == limit then break end
    local uid, token = one[1], one[2]
    local job = delivery_prefix .. uid
    if not token then
        redis.call('ZREM', KEYS[1], uid)
    elseif redis.call('SISMEMBER', P .. 'jobs:index:main', job) == 0 or
        take_out_delivery(job, token) then
        local size = math.max(redis.call('LLEN', P .. 'batches:' .. uid) - 3, 0)
        redis.call('SREM', P .. 'jobs:index:main', job)
        remove_batch(uid, token, size)
        dropped(token, size)
    end
end
return {batches, events}
