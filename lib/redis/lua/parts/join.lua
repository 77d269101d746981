-- Puts a batch that begins at the end of its lane, which is in the order of their beginnings. With
-- workers of the original in the fleet none joins: they would end it and leave it there.
local function join(token, uid)
    if mixed then return end
    local lane = P .. 'routemaster:lane:' .. token
    local last = redis.call('ZRANGE', lane, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', lane, math.max((last and tonumber(last) or 0) + 1, now * 1000), uid)
end
