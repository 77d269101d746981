-- Lanes: of the delivery jobs of one subscriber only the first `max_in_flight` may be acquired.
-- `routemaster:lane:{token}` orders its batches as they began; a delivery job that is READY but
-- not among the first is kept in `routemaster:held:main`.

local delivery_prefix = '\146\165batch\145\180'

-- The batch that a job of a queue is to deliver; nil for any other job.
local function batch_of(q, job)
    if q == 'main' and #job == 29 and string.sub(job, 1, 9) == delivery_prefix then
        return string.sub(job, 10)
    end
end

-- The subscriber of a batch; false when the batch is gone, or no batch.
local function subscriber_of(uid)
    local token = redis.pcall('LINDEX', P .. 'batches:' .. uid, 0)
    return type(token) == 'string' and token
end

-- How many of the first batches of a lane may be under way before any was delivered.
local lane_start = 16

-- How many of the first batches of a lane may be under way, and how many its subscriber asked for.
-- The window is what has proved to work, and workers have room for; absent where it begins.
local function width_of(token)
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'max_in_flight', 'window')
    local width = tonumber(known[1]) or 1
    return math.max(1, math.min(width, tonumber(known[2]) or lane_start)), width, known[2]
end

-- Puts a batch that begins at the end of its lane, which is in the order of their beginnings. With
-- workers of the original in the fleet none joins: they would end it and leave it there.
local function join(token, uid)
    if mixed then return end
    local lane = P .. 'routemaster:lane:' .. token
    local last = redis.call('ZRANGE', lane, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', lane, math.max((last and tonumber(last) or 0) + 1, now * 1000), uid)
end

-- Puts a batch that another program began where it belongs; returns its place, the first being 0.
local function join_late(token, uid)
    local lane = P .. 'routemaster:lane:' .. token
    local began = tonumber(redis.call('LINDEX', P .. 'batches:' .. uid, 1)) or now
    redis.call('ZADD', lane, began * 1000, uid)
    return redis.call('ZRANK', lane, uid)
end

-- Lets a job be acquired if it is held; says whether it was.
local function let_in(job)
    if redis.call('SREM', P .. 'routemaster:held:main', job) == 0 then return false end
    if redis.call('LPUSH', P .. 'jobs:instant:main', job) == 1 or mixed then wake('main', -1) end
    return true
end

-- Lets the READY jobs at the places `first` to `last` of a lane be acquired.
local function admit(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:lane:' .. token, first, last)) do
        let_in(delivery_prefix .. uid)
    end
end

-- Keeps the READY jobs at the places `first` to `last` of a lane from being acquired.
local function hold(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:lane:' .. token, first, last)) do
        local job = delivery_prefix .. uid
        if redis.call('LREM', P .. 'jobs:instant:main', -1, job) > 0 then
            redis.call('SADD', P .. 'routemaster:held:main', job)
        end
    end
end

-- Gives a lane another width.
local function widen(token, before, after)
    if mixed then
        if after > before then wake('main', -1) end
    elseif after > before then
        admit(token, before, after - 1)
    elseif after < before then
        hold(token, after, before - 1)
    end
end

-- Those of the batches that are gone.
local function gone_of(uids)
    local keys = {}
    for i, uid in ipairs(uids) do keys[i] = P .. 'batches:' .. uid end
    local present = #keys == 0 and 0 or redis.call('EXISTS', unpack(keys))
    if present == #keys then return {} end
    if present == 0 then return uids end
    local gone = {}
    for i, key in ipairs(keys) do
        if redis.call('EXISTS', key) == 0 then gone[#gone + 1] = uids[i] end
    end
    return gone
end

-- Takes the batches that another program ended out of the first places of a lane, and lets in those
-- that come up. Looks at 1,000 at most; false when there may be more.
local function tidy(token)
    local lane = P .. 'routemaster:lane:' .. token
    local width = width_of(token)
    local enough = math.min(width, 100)
    local places, looked, removed, done = enough, 0, 0, false
    while places > 0 and not done do
        local first = redis.call('ZRANGE', lane, 0, places - 1)
        local gone = gone_of(first)
        if #gone > 0 then removed = removed + redis.call('ZREM', lane, unpack(gone)) end
        done = #first - #gone >= enough or #first < places
        looked = looked + #first
        places = 1000 - looked
    end
    if removed > 0 then admit(token, 0, width - 1) end
    return done
end

-- The same; whoever acquires next goes on with what this left.
local function begin_to_tidy(token)
    if tidy(token) then return end
    redis.pcall('SADD', P .. 'routemaster:untidy', token)
    wake('main', -1)
end

-- Takes a batch out of its lane, which makes room for the next.
local function leave(token, uid)
    local lane = P .. 'routemaster:lane:' .. token
    redis.call('ZREM', lane, uid)
    local edge = width_of(token) - 1
    local next = redis.call('ZRANGE', lane, edge, edge)[1]
    if next and not let_in(delivery_prefix .. next) and #gone_of({next}) > 0 then
        begin_to_tidy(token)
    end
end

-- Lets a lane have one more after a success, and two less after a failure, but no more than `most`.
-- What it may begin with it regains after failures, too. Those of a lane that becomes narrower are
-- held once they are met among the READY.
local function adapt(token, success, most)
    local before, width, stored = width_of(token)
    if width <= 1 then return end
    local first = math.min(width, lane_start)
    local after = (success or before < first) and before + 1 or math.max(before - 2, first)
    after = math.min(after, most, width)
    if after == first then
        if stored then redis.call('HDEL', P .. 'subscriber:' .. token, 'window') end
    elseif after ~= before then
        redis.call('HSET', P .. 'subscriber:' .. token, 'window', after)
    end
    if after > before then admit(token, before, after - 1) end
end

-- Whether a batch is among the first of its lane. A batch that another program began joins here.
local function among_first(token, uid)
    local lane = P .. 'routemaster:lane:' .. token
    local width = width_of(token)
    local place = redis.call('ZRANK', lane, uid) or join_late(token, uid)
    if place < width then return true end
    begin_to_tidy(token)
    return redis.call('ZRANK', lane, uid) < width
end

-- Whether the job of a batch may be acquired. A lane that cannot be read holds nobody back: whoever
-- acquires the job is told what is wrong when it begins the delivery.
local function may_run(token, uid)
    if mixed then return true end
    local read, first = pcall(among_first, token, uid)
    return first or not read
end
