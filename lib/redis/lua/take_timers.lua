-- TakeTimers: assigns due timers to a listener. They are then FIRED.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 listener, 6 limit; 0 to leave, 7 time to confirm
--       in ms, for timers without their own time
-- Effect: first retries timers that were not confirmed in time. The listener is added at the left
--         end of `ch`. If the current listener (see timer_turn.lua) took a timer, the next listener
--         becomes current. If the current listener is a Node listener that did not poll in time,
--         the next listener also becomes current when this listener takes a timer. Retries at most
--         4 MiB of timers and assigns at most 4 MiB.
-- Reply: when to poll next, or nil; then for each timer: id, due time, event, number of retries so
--        far, maximum number of retries, and time of the next retry, or nil.
local me, limit, within = T .. 'ch:' .. ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
expect_timers()

if limit == 0 then
    leave(me)
elseif redis.call('LINDEX', channels, -1) ~= me and not redis.call('LPOS', channels, me) then
    if redis.call('LPUSH', channels, me) > 1000 then
        leave(redis.call('LINDEX', channels, -1))
    end
end
local holder = limit > 0 and first_listener(me)
local has_turn = holder == me or (holder and is_late(holder))
put_back()

local reply, ended, kept = {false}, {}, {}

-- Assigns a timer to the listener. A timer without an event is removed.
local function give(id, score, event, own)
    if not event then return end
    local count, max = retries_in(event)
    local back = max > 0 and now + math.floor(tonumber(own) or within)
    reply[#reply + 1] = {id, instant(score), event, count, max, back}
    if not back then
        ended[#ended + 1] = id
        return
    end
    redis.call('ZADD', fired, back, id)
    if not string.find(event, '_numRetries', 1, true) or
        with_count(event, count) ~= event then
        kept[#kept + 1] = id
        kept[#kept + 1] = with_count(event, count)
    end
end

local due = limit > 0 and redis.call('ZRANGE', pending, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit,
    'WITHSCORES') or {}
if #due > 0 then
    local ids = {}
    for i = 1, #due, 2 do ids[#ids + 1] = due[i] end
    local slice, texts = slice_of(ids)
    ids = slice
    local own = redis.call('HLEN', confirm) > 0 and redis.call('HMGET', confirm, unpack(ids)) or {}
    redis.call('ZREM', pending, unpack(ids))
    for i, id in ipairs(ids) do give(id, due[2 * i], texts[i], own[i]) end
    if #ended > 0 then
        redis.call('HDEL', events, unpack(ended))
        redis.call('ZREM', fired, unpack(ended))
    end
    if #kept > 0 then redis.call('HSET', events, unpack(kept)) end
end

if #reply > 1 and has_turn then
    if redis.call('LLEN', channels) > 1 then redis.call('RPOPLPUSH', channels, channels) end
    forget_told()
end
local next, first, ours = tell(limit > 0 and me or nil)
if limit == 0 then return reply end

if next and next <= now then
    reply[1] = now
elseif not ours then
    -- A Node listener may have been notified of too early an instant, and then takes nothing. This
    -- listener therefore also polls, a quarter of `gracePeriod` after the next timer is due.
    local grace, base = tunables()
    reply[1] = now + base * redis.call('LLEN', channels)
    if next then reply[1] = math.min(reply[1], instant(next) + math.ceil(grace / 4)) end
elseif next then
    -- If the poll of the current listener is overdue, this listener polls a second after that poll
    -- was expected. Otherwise it polls a second after `next`.
    local turn = asks_at(first)
    turn = turn and turn < now and math.min(turn, instant(next)) or instant(next)
    reply[1] = first == me and instant(next) or turn + silence
end
local wake_at = math.min(reply[1] or never, never)
redis.call('HSET', listeners, me, string.format('%.0f', wake_at))
if wake_at > (tonumber(redis.call('HGET', turn, 'latest')) or 0) then
    redis.call('HSET', turn, 'latest', string.format('%.0f', wake_at))
end
return reply
