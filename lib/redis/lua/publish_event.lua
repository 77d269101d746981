-- PublishEvent: takes in one event for all subscribers of its topic.
-- KEYS  1 topic:{topic}
-- ARGV  1 prefix, 2 now, 3 mixed, 4 topic, 5 publisher or "", 6 message, 7 timestamp,
--       8 the first 17 characters of fresh batch ids, 9 and 10 the fields of the counters
--       events.published and events.bytes, 11 topics that the publisher may have claimed
-- Parts: lanes() gives those that are seldom needed.
-- Effect: claims the topic; appends to the CURRENT batch of each subscriber, or begins one with its
--       delivery job; seals what is full; counts.
-- Reply: 1, 0 when the topic belongs to another, or -1 when it would be one too many.
local topic, publisher, message = ARGV[4], ARGV[5], ARGV[6]
local owner = redis.call('HGET', KEYS[1], 'publisher')
if owner and owner ~= publisher then return 0 end
local claims = not owner and publisher ~= ''
if claims then
    local claimed = redis.call('HGET', P .. 'routemaster:claims', publisher)
    if (tonumber(claimed) or 0) >= tonumber(ARGV[11]) then return -1 end
end
if not owner then expect('SCARD', 'topics') end

-- Everything is read before anything is changed. Most publications begin no batch and fill none.
local join, place, make_ready, fresh_uid
local targets, some_join, some_wait, some_move = {}, false, false, false
local tokens = redis.call('SMEMBERS', P .. 'subscribers:' .. topic)
if #tokens > 1 then table.sort(tokens) end
if #tokens > 0 then expect('HLEN', 'batches:gauges:event') end
for _, token in ipairs(tokens) do
    local wants = redis.call('HMGET', P .. 'subscriber:' .. token, 'timeout', 'max_events', 'uuid')
    -- Every subscriber has a uuid, be it empty; without one this is what a late write left behind.
    if wants[3] then
        local current = P .. 'batches:current:' .. token
        local uid = redis.call('SRANDMEMBER', current)
        local length = uid and redis.call('LLEN', P .. 'batches:' .. uid) or 0
        local target = {token = token, current = current, uid = uid, joins = length == 0}
        -- Also for a batch that exists: one whose job was lost on the way gets it back.
        if target.joins or redis.call('SISMEMBER', P .. 'jobs:index:main',
            '\146\165batch\145\180' .. uid) == 0 then
            target.due = math.min(tonumber(ARGV[7]), now) + (tonumber(wants[1]) or 500)
            some_wait = true
            some_move = some_move or target.due <= now
        end
        target.is_full = math.max(length, 3) - 2 >= (tonumber(wants[2]) or 100)
        some_move = some_move or target.is_full
        if target.joins then
            some_join = true
            expect('ZCARD', 'routemaster:lane:' .. token)
        end
        targets[#targets + 1] = target
    end
end
if some_join then
    expect('HLEN', 'batches:gauges:batch')
    expect('ZCARD', 'batches:index')
end
if some_move then
    expect_queue('main')
elseif some_wait then
    expect('ZCARD', 'jobs:scheduled:main')
    expect('SCARD', 'jobs:index:main')
end
if some_wait or some_move then join, place, make_ready, fresh_uid = lanes() end

-- The first change: where it fails, it is the only one.
tally(ARGV[9], 1)
tally(ARGV[10], #message)
if claims then
    add(P .. 'routemaster:claims', publisher, 1)
    redis.call('HSET', KEYS[1], 'publisher', publisher)
end
if not owner and redis.call('SADD', P .. 'topics', topic) == 1 then note_name('topics', topic) end
add(KEYS[1], 'counter', 1)
for _, target in ipairs(targets) do
    local token, current = target.token, target.current
    if target.joins then
        if target.uid then redis.call('SREM', current, target.uid) end
        target.uid = fresh_uid()
        redis.call('RPUSH', P .. 'batches:' .. target.uid, token, now, 0, message)
        redis.call('SADD', current, target.uid)
        redis.call('ZADD', P .. 'batches:index', now, target.uid)
        add(P .. 'batches:gauges:batch', token, 1)
        join(token, target.uid)
    else
        redis.call('RPUSH', P .. 'batches:' .. target.uid, message)
    end
    target.job = '\146\165batch\145\180' .. target.uid
    if target.due then
        redis.call('SADD', P .. 'jobs:index:main', target.job)
        place('main', target.job, target.due)
    end
    add(P .. 'batches:gauges:event', token, 1)
    count('events.added', token, 1)
end
for _, target in ipairs(targets) do
    if target.is_full then
        redis.call('SREM', target.current, target.uid)
        if redis.call('ZREM', P .. 'jobs:scheduled:main', target.job) == 1 then
            make_ready('main', target.job)
        end
    end
end
return 1
