-- Indexes of names. Sets and hashes have no order. The listing of a large set or hash therefore
-- reads the zset `routemaster:index:{key}`, which has all its names with score 0, in the order of
-- their bytes. The first listing of many names creates the index. Afterwards each script that adds
-- or removes a name updates the index. Never fails: the next listing notices an outdated index and
-- repairs it.

local function note_name(key, name)
    local index = P .. 'routemaster:index:' .. key
    if redis.call('EXISTS', index) == 1 then redis.pcall('ZADD', index, 0, name) end
end
