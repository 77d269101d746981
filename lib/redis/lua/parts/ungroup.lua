-- Removes ordering groups. A mixed deployment has none, because Ruby workers would remove batches
-- but not their entries in the groups. Each call continues where the previous call stopped, and
-- handles about 500 subscribers.
local function ungroup()
    local cursor = P .. 'routemaster:ungrouped'
    local from = redis.pcall('GET', cursor)
    from = type(from) == 'string' and string.match(from, '^%d+$') or '0'
    local found = redis.call('SSCAN', P .. 'subscribers', from, 'COUNT', 500)
    for _, token in ipairs(found[2]) do
        local group = P .. 'routemaster:group:' .. token
        local size = redis.pcall('ZCARD', group)
        if type(size) == 'number' and size > 0 then redis.call('UNLINK', group) end
    end
    if found[1] == '0' then
        redis.call('DEL', cursor)
    else
        redis.call('SET', cursor, found[1], 'EX', 86400)
    end
end
