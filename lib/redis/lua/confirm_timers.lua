-- ConfirmTimer for several timers of one namespace, in order.
-- KEYS  1 {namespace}:et
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace; then for each timer: id, the number of its retries,
--       or "" for any firing, its score in `et`, or "" for any
-- Parts: confirm_timer() is the script for one timer, as a function of KEYS and ARGV.
-- Reply: a list with the reply of confirm_timer.lua for each timer, which may be an error.
local count = (#ARGV - 4) / 3
local function id_of(i) return ARGV[2 + 3 * i] end

-- Finds the timers that only have to be removed, and their entries in `confirm`. They are removed
-- together. Each key is read here, because a key of a wrong type must stop the script before any
-- change.
local function look()
    local ids, plain, noted, met = {}, {}, {}, {}
    for i = 1, count do ids[i] = id_of(i) end
    local back = redis.call('ZMSCORE', fired, unpack(ids))
    local again = redis.call('ZMSCORE', pending, unpack(ids))
    local texts = redis.call('HMGET', events, unpack(ids))
    local notes = redis.call('HMGET', confirm, unpack(ids))
    local told = tonumber(redis.call('HGET', T .. 'gl', 'expiresAt') or nil)
    for i, id in ipairs(ids) do
        local retries, firing, at = ARGV[3 + 3 * i], ARGV[4 + 3 * i], tonumber(back[i] or nil)
        local is_meant = at and not again[i] and texts[i] and not met[id] and
            (firing == '' or at == tonumber(firing)) and
            (retries == '' or retries_in(texts[i]) == tonumber(retries))
        if is_meant and at ~= told then
            plain[#plain + 1] = i
            if notes[i] then noted[#noted + 1] = id end
        end
        met[id] = true
    end
    return plain, noted
end

local replies = {}
local looked, plain, noted = pcall(look)
if looked and #plain > 0 then
    local ids = {}
    for place, i in ipairs(plain) do ids[place], replies[i] = id_of(i), 1 end
    redis.call('ZREM', fired, unpack(ids))
    redis.call('HDEL', events, unpack(ids))
    if #noted > 0 then redis.call('HDEL', confirm, unpack(noted)) end
end
for i = 1, count do
    if not replies[i] then replies[i] = alone(confirm_timer, 4, 3, i) end
end
return replies
