-- Notifies the listeners of a namespace when the next timer is due. A listener is a process that
-- takes due timers. A *Node listener* runs Node's dtimer; the others are processes of routemaster.
-- The *current* listener should take the next timers. It is at the right end of the list `ch`; in
-- dtimer's words, it has the turn. As in dtimer, a *notification* is a message {"interval":N} in
-- the listener's channel. It requests a poll in N milliseconds. `expiresAt` is the due time in the
-- last notification. In two cases dtimer would stall, so routemaster notifies the current listener
-- again:
--   - when this due time was changed to an earlier or later time;
--   - when `gracePeriod` has passed since this due time, because no listener polled, or a listener
--     woke too early and took nothing.
-- Node's timers round times down, so a notification of a Node listener has an additional
-- millisecond.
--
-- A listener of routemaster polls at once after any notification. The reply says when to poll next.
-- `routemaster:listeners` has for each of these listeners the time of its next poll, or "w" and the
-- time when it was woken since its last poll. A listener whose poll is a second late counts as
-- dead.
--
-- The time of the next poll of a Node listener is unknown. `routemaster:turn` has the last
-- notification of a Node listener: `to`, its channel; `told`, the due time in this notification;
-- `at`, when the listener must poll; `since`, when it first had to poll. The field `latest` has an
-- instant by which every listener of routemaster polls, except listeners that were woken.

local global, channels = T .. 'gl', T .. 'ch'
local listeners, turn = T .. 'routemaster:listeners', T .. 'routemaster:turn'
local silence = 1000

-- Returns gracePeriod and baseInterval. Another program may have changed them.
local function tunables()
    local both = redis.call('HMGET', global, 'gracePeriod', 'baseInterval')
    local grace, base = tonumber(both[1]), tonumber(both[2])
    if not both[1] then redis.call('HSET', global, 'gracePeriod', 20) end
    if not both[2] then redis.call('HSET', global, 'baseInterval', 1000) end
    return math.max(grace or 20, 0), math.max(base or 1000, 1)
end

-- Returns when the next timer is due; nil without timers.
local function next_due()
    local first = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')[2]
    local back = redis.call('ZRANGE', fired, 0, 0, 'WITHSCORES')[2]
    local next = math.min(tonumber(first or math.huge), tonumber(back or math.huge))
    if next < math.huge then return next end
end

local function forget_told()
    redis.call('HDEL', global, 'expiresAt')
    redis.call('HDEL', turn, 'told', 'to', 'at', 'since')
end

local function leave(listener)
    local had_turn = redis.call('LINDEX', channels, -1) == listener
    redis.call('LREM', channels, 0, listener)
    redis.call('HDEL', listeners, listener)
    if redis.call('EXISTS', listeners) == 0 then redis.call('HDEL', turn, 'latest') end
    if had_turn then forget_told() end
end

-- Parses an entry of `routemaster:listeners`. Returns when the listener polls, or when it was
-- woken, and whether it was woken.
local function noted(text)
    local woken = string.sub(text, 1, 1) == 'w'
    return tonumber(woken and string.sub(text, 2) or text) or now, woken
end

local function asks_at(listener)
    local text = redis.call('HGET', listeners, listener)
    if text then return noted(text) end
end

local function note_woken(listener)
    redis.call('HSET', listeners, listener, 'w' .. string.format('%.0f', now))
end

local function last_told()
    local own = redis.call('HMGET', turn, 'told', 'to', 'at', 'since')
    return {told = own[1], to = own[2], at = tonumber(own[3] or 0), since = tonumber(own[4] or 0)}
end

-- Returns the current listener; nil if there is no listener. Dead listeners lose their position. A
-- listener of routemaster is removed, because its next poll adds it again. A Node listener would
-- not be added again, and is moved to the left end. `me` is the polling listener.
local function first_listener(me)
    local moved = false
    while true do
        local first = redis.call('LINDEX', channels, -1)
        if not first or first == me then return first end
        local at, woken = asks_at(first)
        if at then
            -- If the clock was set back, the time for the listener's poll begins now.
            if woken and at > now then note_woken(first) end
            if at + silence > now then return first end
            leave(first)
        else
            local own = last_told()
            local silent = own.to == first and own.since + silence <= now and
                redis.call('HEXISTS', global, 'expiresAt') == 1
            if moved or not silent then return first end
            redis.call('RPOPLPUSH', channels, channels)
            forget_told()
            moved = true
        end
    end
end

-- Returns whether the current listener is a Node listener that did not poll in time: the due time
-- in its last notification passed more than a quarter of `gracePeriod` ago. Then the other
-- listeners poll, too.
local function is_late(listener)
    local told = tonumber(redis.call('HGET', global, 'expiresAt'))
    if not told or redis.call('HEXISTS', listeners, listener) == 1 then return false end
    local own = last_told()
    local at = own.to == listener and tonumber(own.told) == told and own.at or told
    return at + math.floor(tunables() / 4) <= now
end

-- Makes a listener poll in `interval` milliseconds. Returns false for a removed listener.
local function wake_listener(listener, interval)
    local message = string.format('{"interval":%.0f}', math.min(interval, 2147483647))
    if redis.call('PUBLISH', listener, message) > 0 then return true end
    leave(listener)
    return false
end

local function wake_ours(listener, interval)
    local there = wake_listener(listener, interval)
    if there then note_woken(listener) end
    return there
end

-- Returns whether a Node listener that was last notified of the due time `told` will poll in time
-- for a timer that is due at `next`. `grace` is `gracePeriod`.
local function will_ask(told, next, grace)
    local at = tonumber(told)
    if not at then return false end
    local own = last_told()
    if math.max(at, own.told == told and own.at or at) + grace <= now then return false end
    if next < at and at > now then return false end
    return next <= math.max(at, now)
end

-- Notifies a Node listener. Returns false for a removed listener.
local function tell_node(listener, next, told)
    local grace, base = tunables()
    if told and will_ask(told, next, grace) then return true end
    local interval = math.max(math.ceil(next - now), 0)
    if interval + grace >= redis.call('LLEN', channels) * base then
        -- The listener polls before this time anyway. After a notification, it would delay its next
        -- poll until this time.
        if told then forget_told() end
        return true
    end
    if not wake_listener(listener, interval > 0 and interval + 1 or 0) then return false end
    local own, at = last_told(), math.max(next, now)
    local silent = told and own.told == told and own.to == listener and own.since <= now
    redis.call('HSET', global, 'expiresAt', next)
    redis.call('HSET', turn, 'told', redis.call('HGET', global, 'expiresAt'), 'to', listener,
        'at', at, 'since', silent and own.since or at)
    return true
end

-- Notifies a listener of routemaster. Returns false for a removed listener.
local function tell_ours(listener, next, told, at, woken)
    if not woken and at > next and not wake_ours(listener, math.max(next - now, 0)) then
        return false
    end
    if tonumber(told) ~= next then redis.call('HSET', global, 'expiresAt', next) end
    return true
end

-- Wakes those listeners of routemaster that would otherwise poll too late to notice that the
-- current listener has died.
local function wake_others(first, me, last)
    local all, latest = redis.call('HGETALL', listeners), 0
    for i = 1, #all, 2 do
        local at, woken = noted(all[i + 1])
        if all[i] ~= me and not woken then
            if at + 60 * silence <= now and not redis.call('LPOS', channels, all[i]) then
                -- A process of Node's dtimer has removed this listener from `ch`. Its entry in
                -- `routemaster:listeners` is removed, too.
                redis.call('HDEL', listeners, all[i])
            elseif at <= last or all[i] == first then
                latest = math.max(latest, at)
            else
                wake_ours(all[i], math.max(last - now, 0))
            end
        end
    end
    if latest > 0 then
        redis.call('HSET', turn, 'latest', string.format('%.0f', latest))
    else
        redis.call('HDEL', turn, 'latest')
    end
end

-- Notifies the current listener when the next timer is due, unless its last notification contained
-- this time. `me` is the listener that polls now, and gets the time from the reply. Returns when
-- the next timer is due, the current listener, and whether it is a listener of routemaster. Returns
-- nil if there is no listener.
local function tell(me)
    local first = first_listener(me)
    local told = redis.call('HGET', global, 'expiresAt')
    local next = first and next_due()
    if not next then
        if told then forget_told() end
        return nil, first, first and (first == me or asks_at(first))
    end
    while first and first ~= me do
        local at, woken = asks_at(first)
        if at and tell_ours(first, next, told, at, woken) then break end
        if not at and tell_node(first, next, told) then break end
        told = false
        first = redis.call('LINDEX', channels, -1)
    end
    if not first then return nil end
    if first == me then redis.call('HSET', global, 'expiresAt', next) end
    local latest = tonumber(redis.call('HGET', turn, 'latest'))
    if latest and latest > next + silence then wake_others(first, me, next + silence) end
    return next, first, first == me or asks_at(first)
end

-- Notifies the current listener again if the next timer is due later than in the last notification,
-- or is overdue. A listener of routemaster needs no message, because its next poll returns the
-- time.
local function tell_again()
    local first = redis.call('LINDEX', channels, -1)
    local told = redis.call('HGET', global, 'expiresAt')
    local next = first and next_due()
    if not next then
        if told then forget_told() end
    elseif asks_at(first) then
        if tonumber(told) ~= next then redis.call('HSET', global, 'expiresAt', next) end
    elseif not tell_node(first, next, told) then
        tell()
    end
end

-- Must be called when the due time of a timer was set to `at`. Notifies the current listener if
-- necessary.
local function tell_of(at)
    local told = tonumber(redis.call('HGET', global, 'expiresAt'))
    if told and told <= at then tell_again() else tell() end
end
