-- PostTimer: posts a timer. Replaces a timer with the same id.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 event, 7 due_at, 8 time to confirm in ms, or
--       0 for the default of its listener, 9 "1" to keep a PENDING or FIRED timer
-- Parts: turns() defines tell_of(). It is needed only if the timer is the first to be due, or if
--        its id exists.
-- Reply: 1 if a timer was replaced, 2 if a timer was kept, else 0.
local id, due_at, within = ARGV[5], tonumber(ARGV[7]), tonumber(ARGV[8])
-- These keys are read first, because a key of a wrong type must stop the script before any change.
-- Most timers are new and not the first to be due, and need no further keys.
local known = redis.call('HEXISTS', events, id) == 1
if ARGV[9] and known and
    (redis.call('ZSCORE', pending, id) or redis.call('ZSCORE', fired, id)) then
    return 2
end
local was_dead = redis.call('ZSCORE', dead, id)
local was_noted = redis.call('HEXISTS', confirm, id) == 1
local told = redis.call('HGET', T .. 'gl', 'expiresAt')
local at = tonumber(told)
local stirs = known or (at and (due_at < at or at <= now)) or
    not at and redis.call('LLEN', T .. 'ch') > 0
if stirs or was_dead or was_noted or within > 0 then expect_timers() end

local was_pending = redis.call('ZADD', pending, due_at, id) == 0
redis.call('HSET', events, id, ARGV[6])
-- Removes the earlier firing. Otherwise its confirmation would remove the new timer.
local was_fired = known and redis.call('ZREM', fired, id) == 1
if was_dead then
    redis.call('ZREM', dead, id)
    redis.call('HDEL', dead_events, id, '\0' .. id)
end
if within > 0 then
    note_confirm(id, within)
elseif was_noted then
    redis.call('HDEL', confirm, id)
end
if stirs then turns()(due_at) end
return (was_dead or was_fired or known and was_pending) and 1 or 0
