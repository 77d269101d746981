-- GiveUpTimer: makes a FIRED timer DEAD.
-- KEYS  1 {namespace}:et
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 the number of its retries, or "" for any
--       firing, 7 its score in `et`, or "" for any, 8 the reason, or ""
-- Reply: 1, or 0 when no such firing awaits confirmation.
local id = ARGV[5]
expect_timers()
local back = redis.call('ZSCORE', fired, id)
-- If Node's dtimer posted the timer again while it was FIRED, the PENDING timer is a new timer and
-- must not become DEAD.
if not back or redis.call('ZSCORE', pending, id) then return 0 end
if ARGV[7] ~= '' and tonumber(back) ~= tonumber(ARGV[7]) then return 0 end
local event = redis.call('HGET', events, id)
if not event or ARGV[6] ~= '' and retries_in(event) ~= tonumber(ARGV[6]) then return 0 end
redis.call('ZREM', fired, id)
bury(id, event, ARGV[8])
forget_oldest_dead()
tell_again()
return 1
