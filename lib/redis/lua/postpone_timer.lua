-- PostponeTimer: changes the due time of a PENDING timer.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 due_at
-- Reply: 1, or 0 when the timer is not PENDING.
local id = ARGV[5]
expect_timers()
if not redis.call('ZSCORE', pending, id) or redis.call('HEXISTS', events, id) == 0 then return 0 end
redis.call('ZADD', pending, ARGV[6], id)
tell_of(tonumber(ARGV[6]))
return 1
