-- Appends a new batch to its ordering group, where batches are sorted by the time of their
-- creation. In a mixed deployment, batches do not join: a Ruby worker would remove the batch but
-- not its entry in the group. `size` is the size of the group, if known.
local function join(token, uid, size)
    if mixed then return end
    local group = P .. 'routemaster:group:' .. token
    local last = size ~= 0 and redis.call('ZRANGE', group, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', group, math.max((last and tonumber(last) or 0) + 1, now * 1000), uid)
end
