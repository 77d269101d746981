-- ListDeadBatches: lists the DEAD batches of a subscriber, those that died first at the front.
-- KEYS  1 routemaster:dead:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 limit, 6 the uid of the one before, or ""
-- Reply: for each its uid, when it died, error, token, creation time, attempts, events; or 0 when
--        the uid before is not among them.
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
