-- ConfirmTimer: confirms a FIRED timer, which removes the timer.
-- KEYS  1 {namespace}:et
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 how often the timer came back, or "" for any
--       firing, 7 its score in `et`, or "" for any
-- Parts: turns() makes tell_again(), which is needed only when this timer would have come back
--        next.
-- Effect: a timer posted again by Node while FIRED stays.
-- Reply: 1, or 0 when no such firing waits for its confirmation.
local id = ARGV[5]
-- These reads also fail when their key has another type than expected.
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
