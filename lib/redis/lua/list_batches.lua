-- ListBatches: lists the batches of a subscriber in the order of their ordering group.
-- KEYS  1 routemaster:group:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 limit, 6 uid after which to begin, or ""
-- Effect: a mixed deployment has no ordering groups, so it searches the 10,000 oldest batches
--         instead.
-- Reply: queued_batch() for each batch; or 0 when the batch ARGV[6] is not listed.
local token, limit, after = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local uids
if mixed then
    uids = redis.call('ZRANGE', P .. 'batches:index', 0, 9999)
else
    local first = 0
    if after ~= '' then
        local place = redis.call('ZRANK', KEYS[1], after)
        if not place then return 0 end
        first = place + 1
    end
    uids = redis.call('ZRANGE', KEYS[1], first, first + limit - 1)
end
local found = not mixed or after == ''
local listed = {}
for _, uid in ipairs(uids) do
    if #listed == limit then break end
    if found then
        listed[#listed + 1] = queued_batch(uid, token)
    elseif uid == after then
        found = redis.call('LINDEX', P .. 'batches:' .. uid, 0) == token
    end
end
if not found then return 0 end
return listed
