-- FindDeadBatch: returns the full record of a DEAD batch of a subscriber.
-- KEYS  1 routemaster:dead:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid
-- Reply: as an item of ListDeadBatches, followed by the messages; or nil.
local died_at = redis.call('ZSCORE', KEYS[1], ARGV[5])
if not died_at then return nil end
local list = P .. 'routemaster:dead_batch:' .. ARGV[5]
local head = redis.call('LRANGE', list, 0, 3)
if not head[4] then return nil end
return {ARGV[5], died_at, head[1], head[2], head[3], head[4], redis.call('LLEN', list) - 4,
    redis.call('LRANGE', list, 4, -1)}
