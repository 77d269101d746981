-- ListCounters: lists the counters, by their encoded keys.
-- KEYS  1 counters
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: field, value, and so on; or 0 when the index is outdated. Fields that are not MessagePack
--        of [name, [[tag, text or nil]...]] are no counters and are skipped.
local function is_counter(field)
    local values = {pcall(cmsgpack.unpack, field)}
    local key = values[2]
    if not values[1] or #values ~= 2 or type(key) ~= 'table' or #key ~= 2 then return false end
    if type(key[1]) ~= 'string' or type(key[2]) ~= 'table' then return false end
    for _, tag in ipairs(key[2]) do
        if type(tag) ~= 'table' or type(tag[1]) ~= 'string' then return false end
        if tag[2] ~= nil and type(tag[2]) ~= 'string' then return false end
    end
    return true
end
local names = page('counters', true, '\146', is_counter)
if not names then return 0 end
local listed = {}
for _, field in ipairs(names) do
    listed[#listed + 1] = field
    listed[#listed + 1] = redis.call('HGET', KEYS[1], field)
end
return listed
