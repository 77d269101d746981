-- CancelTimer: forgets a timer that is PENDING or FIRED.
-- KEYS  1 {space}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 space, 5 id
-- Reply: 1, or 0 when there is none.
local id = ARGV[5]
expect_timers()
local held = redis.call('ZREM', pending, id) + redis.call('ZREM', fired, id)
if held == 0 then return 0 end
local known = redis.call('HDEL', events, id)
redis.call('HDEL', confirm, id)
tell_again()
return known
