-- CountTimers: counts the timers of a namespace.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace
-- Reply: the numbers of PENDING, FIRED and DEAD timers, the number of listeners, and when the next
--        timer is due, or nil.
local next = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')[2]
return {
    redis.call('ZCARD', pending), redis.call('ZCARD', fired), redis.call('ZCARD', dead),
    redis.call('LLEN', T .. 'ch'), next and instant(next) or false
}
