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

-- Puts a batch at the end of its lane; returns its place, the first being 0.
local function join(token, uid)
    local lane = P .. 'routemaster:lane:' .. token
    local last = redis.call('ZRANGE', lane, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', lane, (last and tonumber(last) or 0) + 1, uid)
    return redis.call('ZCARD', lane) - 1
end

-- Lets the READY jobs at the places `first` to `last` of a lane be acquired.
local function admit(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:lane:' .. token, first, last)) do
        local job = delivery_prefix .. uid
        if redis.call('SREM', P .. 'routemaster:held:main', job) == 1 then
            if redis.call('LPUSH', P .. 'jobs:instant:main', job) == 1 then wake('main', -1) end
        end
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
    if mixed then return end
    if after > before then
        admit(token, before, after - 1)
    elseif after < before then
        hold(token, after, before - 1)
    end
end

-- Takes a batch out of its lane, which makes room for the next.
local function leave(token, uid)
    redis.call('ZREM', P .. 'routemaster:lane:' .. token, uid)
    if not mixed then
        local width = width_of(token)
        admit(token, width - 1, width - 1)
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

-- Whether a batch is among the first of its lane. A batch that another program began joins here,
-- and one that another program ended stands in nobody's way.
local function among_first(token, uid)
    local lane = P .. 'routemaster:lane:' .. token
    local place = redis.call('ZRANK', lane, uid) or join(token, uid)
    local width = width_of(token)
    if place < width then return true end
    for _, ahead in ipairs(redis.call('ZRANGE', lane, 0, math.min(width, 100) - 1)) do
        if redis.call('EXISTS', P .. 'batches:' .. ahead) == 0 then
            leave(token, ahead)
            place = place - 1
        end
    end
    return place < width
end

-- Whether the job of a batch may be acquired. A lane that cannot be read holds nobody back: whoever
-- acquires the job is told what is wrong when it begins the delivery.
local function may_run(token, uid)
    if mixed then return true end
    local read, first = pcall(among_first, token, uid)
    return first or not read
end
