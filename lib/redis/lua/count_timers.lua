-- CountTimers: counts the timers of a namespace.
-- KEYS  1 {space}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 space
-- Reply: how many are PENDING, FIRED and DEAD, how many listeners there are, and when the next one
--        is due, or nil.
local next = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')[2]
return {
    redis.call('ZCARD', pending), redis.call('ZCARD', fired), redis.call('ZCARD', dead),
    redis.call('LLEN', T .. 'ch'), next and instant(next) or false
}
