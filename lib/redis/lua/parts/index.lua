-- Indexes of names. Sets and hashes have no order, so the listing of one with many names reads a
-- zset `routemaster:index:{key}` of them, all with score 0 and so in the order of their bytes. The
-- first such listing creates it; from then on, whoever adds or removes a name updates it here.
-- Never fails: the next listing finds out that an index is out of date, and repairs it.

local function note_name(key, name)
    local index = P .. 'routemaster:index:' .. key
    if redis.call('EXISTS', index) == 1 then redis.pcall('ZADD', index, 0, name) end
end
