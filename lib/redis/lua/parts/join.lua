-- Appends a batch that begins to its group, which is ordered by when its batches began. With Ruby
-- workers in the fleet none joins: they would end the batch and leave it in the group.
-- `size` is that of the group, if it is known.
local function join(token, uid, size)
    if mixed then return end
    local group = P .. 'routemaster:group:' .. token
    local last = size ~= 0 and redis.call('ZRANGE', group, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', group, math.max((last and tonumber(last) or 0) + 1, now * 1000), uid)
end
