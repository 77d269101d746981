-- AddToCounters: adds to counters.
-- KEYS  1 counters
-- ARGV  1 prefix, 2 now, 3 fleet, 4... field, increment
-- Effect: a counter that would overflow, or is no number, restarts from zero, as in Ruby
--         Routemaster.
-- Reply: 1.
for i = 4, #ARGV, 2 do
    local value = redis.pcall('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
    if type(value) == 'table' then
        redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    elseif value == tonumber(ARGV[i + 1]) then
        note_name('counters', ARGV[i])
    end
end
return 1
