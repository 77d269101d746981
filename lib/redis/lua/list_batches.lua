-- ListBatches: lists the batches of a subscriber in the order of their group.
-- KEYS  1 routemaster:group:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 limit
-- Effect: a mixed fleet has no groups, so there it searches the 10,000 oldest batches.
-- Reply: for each its uid, creation time, attempts, events, 1 when CURRENT.
local token, limit = ARGV[4], tonumber(ARGV[5])
local uids
if mixed then
    uids = redis.call('ZRANGE', P .. 'batches:index', 0, 9999)
else
    uids = redis.call('ZRANGE', KEYS[1], 0, limit - 1)
end
local listed = {}
for _, uid in ipairs(uids) do
    if #listed == limit then break end
    local head = redis.call('LRANGE', P .. 'batches:' .. uid, 0, 2)
    if head[1] == token then
        local events = redis.call('LLEN', P .. 'batches:' .. uid) - 3
        listed[#listed + 1] = {uid, head[2], head[3], events,
            redis.call('SISMEMBER', P .. 'batches:current:' .. token, uid)}
    end
end
return listed
