-- Repairs the index of a set or hash of names, in several calls; see parts/index.lua.
-- KEYS  1 the set or hash
-- ARGV  1 prefix, 2 now, 3 fleet, 4 the key of the set or hash, without the prefix, 5 the reply of
--       the previous call; "source 0" at first
-- Effect: checks about 500 names: first the names of the set or hash, in the order of SSCAN or
--         HSCAN, then the names of the index, in their order.
-- Reply: the argument for the next call, or "" at the end.
local source, index = KEYS[1], P .. 'routemaster:index:' .. ARGV[4]
local where, at = string.match(ARGV[5], '^(%l+) (.*)$')
local is_hash = redis.call('TYPE', source).ok == 'hash'
if where == 'source' then
    local found = redis.call(is_hash and 'HSCAN' or 'SSCAN', source, at, 'COUNT', 500)
    for i = 1, #found[2], is_hash and 2 or 1 do redis.call('ZADD', index, 0, found[2][i]) end
    return found[1] == '0' and 'index ' or 'source ' .. found[1]
end
local names = redis.call('ZRANGE', index, at == '' and '-' or '(' .. at, '+', 'BYLEX',
    'LIMIT', 0, 500)
for _, name in ipairs(names) do
    if redis.call(is_hash and 'HEXISTS' or 'SISMEMBER', source, name) == 0 then
        redis.call('ZREM', index, name)
    end
end
return #names < 500 and '' or 'index ' .. names[#names]
