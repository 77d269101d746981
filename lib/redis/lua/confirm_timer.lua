-- ConfirmTimer: confirms a FIRED timer, which removes the timer.
-- KEYS  1 {namespace}:et
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 the number of its retries, or "" for any
--       firing, 7 its score in `et`, or "" for any
-- Parts: turns() defines tell_again(), which is needed only if this timer would have been the next
--        to be retried.
-- Effect: if Node posted the timer again while FIRED, the new timer is not removed.
-- Reply: 1, or 0 when no such firing waits for its confirmation.
local id = ARGV[5]
-- These keys are read first, because a key of a wrong type must stop the script before any change.
local back = redis.call('ZSCORE', fired, id)
if not back then return 0 end
if redis.call('ZSCORE', pending, id) then
    redis.call('ZREM', fired, id)
    return 0
end
if ARGV[7] ~= '' and tonumber(back) ~= tonumber(ARGV[7]) then return 0 end
local event = redis.call('HGET', events, id)
if event and ARGV[6] ~= '' and retries_in(event) ~= tonumber(ARGV[6]) then return 0 end
local was_noted = redis.call('HEXISTS', confirm, id) == 1
local told = redis.call('HGET', T .. 'gl', 'expiresAt')
local stirs = told and tonumber(told) == tonumber(back)
if stirs then expect_timers() end

redis.call('ZREM', fired, id)
redis.call('HDEL', events, id)
if was_noted then redis.call('HDEL', confirm, id) end
if stirs then turns()() end
return event and 1 or 0
