-- Indexes of names. Sets and hashes are unsorted. The listing of a large set or hash therefore
-- reads the zset `routemaster:index:{key}`, which has all names with score 0, sorted by bytes. The
-- first listing of many names creates the index. From then on, each script that adds or removes a
-- name updates the index. The update never fails, because the next listing detects an outdated
-- index and repairs it.

local function note_name(key, name)
    local index = P .. 'routemaster:index:' .. key
    if redis.call('EXISTS', index) == 1 then redis.pcall('ZADD', index, 0, name) end
end
