-- ListDeadBatches: lists the DEAD batches of a subscriber, oldest death first.
-- KEYS  1 routemaster:dead:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 limit, 6 uid after which to begin, or ""
-- Reply: for each batch: uid, time of death, error, token, creation time, attempts, events; or 0
--        when the batch ARGV[6] is not listed.
local first = 0
if ARGV[6] ~= '' then
    local before = redis.call('ZRANK', KEYS[1], ARGV[6])
    if not before then return 0 end
    first = before + 1
end
local dead = redis.call('ZRANGE', KEYS[1], first, first + ARGV[5] - 1, 'WITHSCORES')
local listed = {}
for i = 1, #dead, 2 do
    local list = P .. 'routemaster:dead_batch:' .. dead[i]
    local head = redis.call('LRANGE', list, 0, 3)
    if head[4] then
        listed[#listed + 1] = {dead[i], dead[i + 1], head[1], head[2], head[3], head[4],
            redis.call('LLEN', list) - 4}
    end
end
return listed
