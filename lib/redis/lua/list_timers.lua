-- ListTimers: lists the timers in one state, by their due times and then by their ids.
-- KEYS  1 {namespace}:ei, or :et, or :routemaster:dead
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 state, 6 from, 7 after, 8 until, 9 limit
-- Effect: reads at most 10,000 timers, and stops before the reply exceeds 4 MiB of events. Skips
--         timers without an event, which Node may leave behind, and timers now in another state.
-- Reply: timer_reply() for each timer.
local state, from, after = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local last, limit = tonumber(ARGV[8]), tonumber(ARGV[9])
local key = ({[0] = pending, fired, dead})[state]

-- Compares bytes, because `<` would depend on the locale of the server.
local function before(a, b)
    for i = 1, math.min(#a, #b) do
        local x, y = string.byte(a, i), string.byte(b, i)
        if x ~= y then return x < y end
    end
    return #a < #b
end

-- Returns how many timers precede the first timer to list.
local function first_place()
    -- Replies contain whole milliseconds. A fraction counts as the next millisecond.
    local low = '(' .. string.format('%.0f', from - 1)
    local place = redis.call('ZCOUNT', key, '-inf', '(' .. string.format('%.17g', from))
    if after == '' then
        if from <= -never then return 0 end
        return redis.call('ZCARD', key) - redis.call('ZCOUNT', key, low, '+inf')
    end
    local score = redis.call('ZSCORE', key, after)
    if score and instant(score) == from then return redis.call('ZRANK', key, after) + 1 end
    local low_place = place
    local high = place + redis.call('ZCOUNT', key, from, from)
    while low_place < high do
        local middle = math.floor((low_place + high) / 2)
        local id = redis.call('ZRANGE', key, middle, middle)[1]
        if before(after, id) then high = middle else low_place = middle + 1 end
    end
    return low_place
end

-- Returns which of the timers in `ids` are in the listed state, as pairs of id and score.
local function in_state(some, ids)
    local others = {}
    if state == 1 then
        others = redis.call('ZMSCORE', pending, unpack(ids))
    elseif state == 2 then
        for i, id in ipairs(ids) do others[i] = redis.call('HEXISTS', events, id) == 1 end
    end
    local found = {}
    for i, id in ipairs(ids) do
        if not others[i] then found[#found + 1] = {id, some[2 * i]} end
    end
    return found
end

-- Adds timers to the reply, up to 4 MiB. Returns whether more fit.
local reply, bytes = {}, 0
local function add(found)
    if #found == 0 then return true end
    local ids, noted = {}, {}
    for i, one in ipairs(found) do ids[i], noted[i] = one[1], '\0' .. one[1] end
    local texts = redis.call('HMGET', state == 2 and dead_events or events, unpack(ids))
    local reasons = state == 2 and redis.call('HMGET', dead_events, unpack(noted)) or {}
    for i, one in ipairs(found) do
        if texts[i] then
            if #reply > 0 and bytes + #texts[i] > 4194304 then return false end
            bytes = bytes + #texts[i]
            reply[#reply + 1] = timer_reply(state, one[1], one[2], texts[i], reasons[i])
        end
    end
    return true
end

local place, looked = first_place(), 0
while #reply < limit and looked < 10000 do
    local wanted = math.min(limit - #reply, 16)
    local some = redis.call('ZRANGE', key, place, place + wanted - 1, 'WITHSCORES')
    local ids = {}
    for i = 1, #some, 2 do
        if instant(some[i + 1]) > last then break end
        ids[#ids + 1] = some[i]
    end
    if #ids == 0 or not add(in_state(some, ids)) then break end
    place, looked = place + #ids, looked + #ids
    if #ids < wanted then break end
end
return reply
