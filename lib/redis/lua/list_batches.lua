-- ListBatches: tells the batches of a subscriber in the order of their lane.
-- KEYS  1 routemaster:lane:{token}
-- ARGV  1 prefix, 2 now, 3 mixed, 4 token, 5 limit
-- Reply: for each its uid, creation time, attempts, events, 1 when CURRENT.
local token = ARGV[4]
local told = {}
for _, uid in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[5] - 1)) do
    local head = redis.call('LRANGE', P .. 'batches:' .. uid, 0, 2)
    if head[1] then
        told[#told + 1] = {uid, head[2], head[3], redis.call('LLEN', P .. 'batches:' .. uid) - 3,
            redis.call('SISMEMBER', P .. 'batches:current:' .. token, uid)}
    end
end
return told
