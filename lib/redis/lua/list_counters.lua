-- ListCounters: tells the counters, by their encoded keys.
-- KEYS  1 counters
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: field, value, and so on; or 0 when the index is behind.
-- A field that does not begin like a key is nobody's counter.
local names = page('counters', true, '\146')
if not names then return 0 end
local listed = {}
for _, field in ipairs(names) do
    listed[#listed + 1] = field
    listed[#listed + 1] = redis.call('HGET', KEYS[1], field)
end
return listed
