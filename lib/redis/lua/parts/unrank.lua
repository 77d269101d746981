-- Removes the rank of a waiting job. Returns whether the job had a rank; see ranks.lua.
local function unrank(q, id, record)
    return priority_in(record) ~= 0 and
        redis.call('ZREM', P .. 'routemaster:ranks:' .. q, string.format('%016.0f', id)) == 1
end
