-- PostTimer for several timers of one namespace, in order. Existing timers are replaced, not kept.
-- KEYS  1 {namespace}:ei
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace; then for each timer: id, event, due_at, time to
--       confirm in ms, or 0 for the default of its listener
-- Parts: post_timer() is the script for one timer, as a function of KEYS and ARGV.
-- Reply: a list with the reply of post_timer.lua for each timer, possibly an error.
local count = (#ARGV - 4) / 4
local function id_of(i) return ARGV[1 + 4 * i] end

-- Returns the timers that are posted together: new timers without a time to confirm that are not
-- the first to be due. Each key is read here, because a key of a wrong type must stop the script
-- before any change.
local function look()
    local ids, plain, met = {}, {}, {}
    for i = 1, count do ids[i] = id_of(i) end
    local known = redis.call('HMGET', events, unpack(ids))
    local died = redis.call('ZMSCORE', dead, unpack(ids))
    local noted = redis.call('HMGET', confirm, unpack(ids))
    local at = tonumber(redis.call('HGET', T .. 'gl', 'expiresAt') or nil)
    if at and at <= now or not at and redis.call('LLEN', T .. 'ch') > 0 then return plain end
    redis.call('ZCARD', pending)
    for i, id in ipairs(ids) do
        local is_new = not known[i] and not died[i] and not noted[i] and not met[id]
        local is_next = at and tonumber(ARGV[3 + 4 * i]) < at
        if is_new and not is_next and tonumber(ARGV[4 + 4 * i]) == 0 then
            plain[#plain + 1] = i
        end
        met[id] = true
    end
    return plain
end

local replies = {}
local looked, plain = pcall(look)
if looked and #plain > 0 then
    local places, texts = {}, {}
    for _, i in ipairs(plain) do
        places[#places + 1], places[#places + 2] = ARGV[3 + 4 * i], id_of(i)
        texts[#texts + 1], texts[#texts + 2] = id_of(i), ARGV[2 + 4 * i]
        replies[i] = 0
    end
    redis.call('ZADD', pending, unpack(places))
    redis.call('HSET', events, unpack(texts))
end
for i = 1, count do
    if not replies[i] then replies[i] = alone(post_timer, 4, 4, i) end
end
return replies
