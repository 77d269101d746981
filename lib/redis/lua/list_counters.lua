-- ListCounters: tells the counters, by their encoded keys.
-- KEYS  1 counters
-- ARGV  1 prefix, 2 now, 3 mixed, 4 after, 5 limit
-- Reply: field, value, and so on.
local fields = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    -- A field that does not begin like a key is nobody's counter.
    if string.sub(field, 1, 1) == '\146' then fields[#fields + 1] = field end
end
local told = {}
for _, field in ipairs(page(fields, ARGV[4], tonumber(ARGV[5]))) do
    told[#told + 1] = field
    told[#told + 1] = redis.call('HGET', KEYS[1], field)
end
return told
