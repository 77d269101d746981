-- For check_rollback: reads a page of a set, sorted set or list.
-- KEYS  1 the key
-- ARGV  1 prefix, 2 now, 3 fleet, 4 cursor, 0 at the beginning
-- Reply: the next cursor, 0 at the end; then the entries.
local kind, cursor = redis.call('TYPE', KEYS[1]).ok, ARGV[4]
local reply = {'0'}
if kind == 'list' then
    local first = tonumber(cursor)
    local found = redis.call('LRANGE', KEYS[1], first, first + 499)
    if #found == 500 then reply[1] = string.format('%.0f', first + 500) end
    for i, entry in ipairs(found) do reply[i + 1] = entry end
elseif kind == 'set' or kind == 'zset' then
    local scan = kind == 'set' and 'SSCAN' or 'ZSCAN'
    local found = redis.call(scan, KEYS[1], cursor, 'COUNT', 500)
    reply[1] = found[1]
    for i = 1, #found[2], kind == 'set' and 1 or 2 do reply[#reply + 1] = found[2][i] end
end
return reply
