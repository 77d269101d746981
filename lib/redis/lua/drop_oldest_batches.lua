-- DropOldestBatches: ends the oldest batches and their jobs, passing over those under delivery.
-- KEYS  1 batches:index
-- ARGV  1 prefix, 2 now, 3 mixed, 4 limit
-- Effect: looks at no more than 1,000 batches beyond the limit.
-- Reply: batches dropped, events dropped.

-- Takes a delivery job out of wherever it waits; false when it is under way.
local function withdraw(job)
    return redis.call('ZREM', P .. 'jobs:scheduled:main', job) == 1 or
        redis.call('SREM', P .. 'routemaster:held:main', job) == 1 or
        redis.call('LREM', P .. 'jobs:instant:main', -1, job) == 1
end

expect_queue('main')
expect('HLEN', 'counters', 'batches:gauges:batch', 'batches:gauges:event')
local limit = tonumber(ARGV[4])
local batches, events = 0, 0
for _, uid in ipairs(redis.call('ZRANGE', KEYS[1], 0, limit + 999)) do
    if batches == limit then break end
    local job = delivery_prefix .. uid
    local token = subscriber_of(uid)
    if token then expect_batch(token) end
    if not token then
        redis.call('ZREM', KEYS[1], uid)
    elseif redis.call('SISMEMBER', P .. 'jobs:index:main', job) == 0 or withdraw(job) then
        local size = redis.call('LLEN', P .. 'batches:' .. uid) - 3
        redis.call('SREM', P .. 'jobs:index:main', job)
        remove_batch(uid, token)
        count('events.autodropped', token, size)
        batches = batches + 1
        events = events + size
    end
end
return {batches, events}
