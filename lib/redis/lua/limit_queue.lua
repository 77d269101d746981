-- LimitQueue: sets or removes the rate limits of a queue.
-- KEYS  1 routemaster:limits
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 jobs, 6 time in ms and 7 burst of its limit, 8 to 10
--       the same numbers of the limit for each group; zeros for no limit
-- Effect: assigns a new revision, so all token buckets begin full. The next acquisitions make
--         throttled jobs READY again. Wakes all workers of the queue.
-- Reply: 1.
local q = ARGV[4]
local none, wanted = '0 0 0 0 0 0', table.concat(ARGV, ' ', 5, 10)
local before = redis.call('HGET', KEYS[1], q)
if wanted == (before and string.match(before, '^%d+ (.*)$') or none) then return 1 end
expect('SCARD', 'routemaster:paused')
local throttled = expect('ZCARD', 'routemaster:opens:' .. q, 'routemaster:throttled:' .. q)
if wanted == none and throttled == 0 then
    redis.call('HDEL', KEYS[1], q, q .. ':')
    redis.call('UNLINK', P .. 'routemaster:opens:' .. q)
    redis.call('SREM', P .. 'routemaster:paused', ':' .. q)
    delist(q)
else
    local revision = redis.call('HINCRBY', KEYS[1], '', 1)
    redis.call('HSET', KEYS[1], q, string.format('%.0f ', revision) .. wanted)
    if throttled > 0 then redis.call('HSET', KEYS[1], q .. ':', '') end
    redis.call('SADD', P .. 'routemaster:paused', ':' .. q)
    enlist(q)
end
redis.call('PUBLISH', P .. 'routemaster:wake', q)
return 1
