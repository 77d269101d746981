-- RedeliverDeadBatches: makes DEAD batches the last batches of their ordering group, as if they
-- were new.
-- KEYS  1 routemaster:dead:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid or "" for all, 6 limit
-- Effect: each batch gets a READY delivery job. Skips a batch whose job exists already.
-- Reply: the number of batches redelivered.
local token = ARGV[4]
local asked = dead_asked(token, ARGV[5], tonumber(ARGV[6]))
expect_dead(token)
expect_batch(token)
for _, uid in ipairs(asked) do
    expect('LLEN', 'routemaster:dead_batch:' .. uid, 'batches:' .. uid)
end
local total = 0
for _, uid in ipairs(asked) do
    local kept, list = P .. 'routemaster:dead_batch:' .. uid, P .. 'batches:' .. uid
    local job = delivery_prefix .. uid
    local events = events_of_dead(uid)
    if events > 0 and redis.call('SADD', P .. 'jobs:index:main', job) == 1 then
        redis.call('ZREM', P .. 'routemaster:dead', uid)
        redis.call('ZREM', KEYS[1], uid)
        redis.call('LPOP', kept)
        redis.call('RENAME', kept, list)
        redis.call('LSET', list, 1, now)
        redis.call('LSET', list, 2, 0)
        redis.call('ZADD', P .. 'batches:index', now, uid)
        add(P .. 'batches:gauges:batch', token, 1)
        add(P .. 'batches:gauges:event', token, events)
        count('events.redelivered', token, events)
        count('events.added', token, events)
        join(token, uid)
        place('main', job, now)
        total = total + 1
    end
end
return total
