-- CancelTimer: removes a PENDING or FIRED timer.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id
-- Reply: 1, or 0 if absent.
local id = ARGV[5]
expect_timers()
local held = redis.call('ZREM', pending, id) + redis.call('ZREM', fired, id)
if held == 0 then return 0 end
local known = redis.call('HDEL', events, id)
redis.call('HDEL', confirm, id)
tell_again()
return known
