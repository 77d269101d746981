-- PublishEvent: takes in one event for all subscribers of its topic.
-- KEYS  1 topic:{topic}
-- ARGV  1 prefix, 2 now, 3 mixed, 4 topic, 5 publisher or "", 6 message, 7 timestamp,
--       8 the first 17 characters of fresh batch ids, 9 and 10 the fields of the counters
--       events.published and events.bytes, 11 topics that the publisher may have claimed,
--       12 "1" if the publisher must be a valid token
-- Parts: lanes() gives those that are seldom needed.
-- Effect: claims the topic; appends to the CURRENT batch of each subscriber, or begins one with its
--       delivery job; seals what is full; counts.
-- Reply: 1, 0 when the topic belongs to another, -1 when it would be one too many, or -2 when the
--        publisher is no valid token.
local topic, publisher, message = ARGV[4], ARGV[5], ARGV[6]
if ARGV[12] == '1' and redis.call('HEXISTS', P .. 'api_tokens:by_token', publisher) == 0 then
    return -2
end
local owner = redis.call('HGET', KEYS[1], 'publisher')
if owner then
    if owner ~= publisher then return 0 end
else
    if publisher ~= '' then
        local claims = redis.call('HGET', P .. 'routemaster:claims', publisher)
        if (tonumber(claims) or 0) >= tonumber(ARGV[11]) then return -1 end
        add(P .. 'routemaster:claims', publisher, 1)
        redis.call('HSET', KEYS[1], 'publisher', publisher)
    end
    redis.call('SADD', P .. 'topics', topic)
end
redis.call('HINCRBY', KEYS[1], 'counter', 1)
add(P .. 'counters', ARGV[9], 1)
add(P .. 'counters', ARGV[10], #message)

-- Most publications begin no batch and fill none.
local join, place, make_ready, fresh_uid
local function need_lanes()
    if not join then join, place, make_ready, fresh_uid = lanes() end
end

local tokens = redis.call('SMEMBERS', P .. 'subscribers:' .. topic)
if #tokens > 1 then table.sort(tokens) end
local full = {}
for _, token in ipairs(tokens) do
    local wants = redis.call('HMGET', P .. 'subscriber:' .. token, 'timeout', 'max_events', 'uuid')
    -- Every subscriber has a uuid, be it empty; without one this is what a late write left behind.
    if wants[3] then
        local current = P .. 'batches:current:' .. token
        local uid = redis.call('SRANDMEMBER', current)
        local length = 0
        if uid then
            length = redis.call('RPUSHX', P .. 'batches:' .. uid, message)
            if length == 0 then redis.call('SREM', current, uid) end
        end
        if length == 0 then
            need_lanes()
            uid = fresh_uid()
            length = redis.call('RPUSH', P .. 'batches:' .. uid, token, now, 0, message)
            redis.call('SADD', current, uid)
            redis.call('ZADD', P .. 'batches:index', now, uid)
            add(P .. 'batches:gauges:batch', token, 1)
            join(token, uid)
        end
        -- Also for a batch that exists: one whose job was lost on the way gets it back.
        local job = '\146\165batch\145\180' .. uid
        if redis.call('SADD', P .. 'jobs:index:main', job) == 1 then
            need_lanes()
            place('main', job, math.min(tonumber(ARGV[7]), now) + (wants[1] or 500))
        end
        add(P .. 'batches:gauges:event', token, 1)
        count('events.added', token, 1)
        if length - 3 >= tonumber(wants[2] or 100) then
            full[#full + 1] = {current, uid, job}
        end
    end
end
for _, batch in ipairs(full) do
    need_lanes()
    expect_queue('main')
    redis.call('SREM', batch[1], batch[2])
    if redis.call('ZREM', P .. 'jobs:scheduled:main', batch[3]) == 1 then
        make_ready('main', batch[3])
    end
end
return 1
