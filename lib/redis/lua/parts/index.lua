-- Indexes of names. Sets and hashes have no order, so of one with many names a listing reads a zset
-- `routemaster:index:{key}` of them, all with score 0 and so in the order of their bytes. The first
-- such listing makes it; from then on whoever adds or removes a name notes it here. Never fails: an
-- index that is behind is found out and repaired by the next listing.

local function note_name(key, name)
    local index = P .. 'routemaster:index:' .. key
    if redis.call('EXISTS', index) == 1 then redis.pcall('ZADD', index, 0, name) end
end
