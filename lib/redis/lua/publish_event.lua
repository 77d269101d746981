-- PublishEvent: appends an event to the queues of all subscribers of its topic, or to the queue of
-- one subscriber, regardless of the topic.
-- KEYS  1 topic:{topic}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 topic, 5 publisher or "", 6 and 7 the fields of the counters
--       events.published and events.bytes, 8 how many topics the publisher may claim, 9 "1" if the
--       publisher must be a valid token, 10 bytes that fill a batch, 11 the only subscriber, or "",
--       12 message, 13 timestamp, 14 the first 17 characters of new batch ids, 15 "1" for an event
--       that no Ruby worker can read
-- Parts: batches() defines the functions that begin or fill a batch. Its places() defines the
--        functions for jobs that are not READY at once.
-- Effect: claims the topic. Appends the event to the CURRENT batch of each subscriber, or begins a
--         batch with its delivery job. Seals full batches. Updates the counters. Marks a batch if
--         Ruby workers cannot read its event, and hides its job from them.
-- Reply: 1; 0 when another publisher owns the topic; -1 when the publisher may claim no more
--        topics; -2 when the publisher is no valid token; -3 when the subscriber does not exist.
local only = ARGV[11]
local topic, publisher, message = ARGV[4], ARGV[5], ARGV[12]
local bytes_max = tonumber(ARGV[10])
if ARGV[9] == '1' and redis.call('HEXISTS', P .. 'api_tokens:by_token', publisher) == 0 then
    return -2
end
local owner = redis.call('HGET', KEYS[1], 'publisher')
if only ~= '' then
    if redis.call('HEXISTS', P .. 'subscriber:' .. only, 'uuid') == 0 then return -3 end
    redis.call('HLEN', P .. 'counters')
elseif owner and owner ~= publisher then
    return 0
end
local claims = not owner and publisher ~= ''
if claims then
    local claimed = redis.call('HGET', P .. 'routemaster:claims', publisher)
    if (tonumber(claimed) or 0) >= tonumber(ARGV[8]) then return -1 end
end
if not owner then redis.call('SCARD', P .. 'topics') end

-- All keys are read before the first change. Most publications neither begin nor fill a batch and
-- need few keys.
local expect, expect_queue, callback_in, offer_to, concurrency_in, join, fresh_uid, places
local jobs, gauge = P .. 'jobs:index:main', P .. 'batches:gauges:event'
local tokens = only ~= '' and {only} or redis.call('SMEMBERS', P .. 'subscribers:' .. topic)
if #tokens > 1 then table.sort(tokens) end
-- For each subscriber:
--   token       the subscriber
--   uid         its CURRENT batch
--   begins      for a new batch, the size of its ordering group, else nil
--   due         the due time of the delivery job, or false when the job exists
--   goes        whether the job becomes READY at once in the list for URLs
--   is_full     whether the event fills the batch
--   unreadable  whether the batch must be marked as unreadable for Ruby workers
local targets = {}
local stale, some_begin, some_wait, some_move, some_go
for _, token in ipairs(tokens) do
    local wants = redis.call('HMGET', P .. 'subscriber:' .. token, 'timeout', 'max_events', 'uuid',
        'callback', 'max_in_flight', 'window')
    -- Every subscriber has a uuid, which may be empty. A hash without a uuid was written after the
    -- subscriber was removed.
    if wants[3] then
        local uid = redis.call('SRANDMEMBER', P .. 'batches:current:' .. token)
        local events = 1
        if uid then
            local length = redis.call('LLEN', P .. 'batches:' .. uid)
            if length > 3 then events = length - 2 end
            if length == 0 then
                stale = stale or {}
                stale[token] = uid
                uid = false
            end
        end
        local target = {token = token, uid = uid, due = false}
        -- If another program lost the job of the batch, a new job is created.
        if not uid or redis.call('SISMEMBER', jobs, '\146\165batch\145\180' .. uid) == 0 then
            target.due = math.min(tonumber(ARGV[13]), now) + (tonumber(wants[1]) or 500)
        end
        target.is_full = events >= (tonumber(wants[2]) or 100) or #message >= bytes_max
        if target.due and not join then
            expect, expect_queue, callback_in, offer_to, concurrency_in, join, fresh_uid, places =
                batches()
        end
        if not uid then
            some_begin = true
            target.uid = fresh_uid()
            target.begins = expect('ZCARD', 'routemaster:group:' .. token)
        end
        if ARGV[15] == '1' then
            local mark = P .. 'routemaster:unreadable:' .. target.uid
            target.unreadable = redis.call('EXISTS', mark) == 0
            some_move = some_move or target.unreadable
        end
        if target.due and target.due > now then
            some_wait = true
        elseif target.due then
            target.goes = target.begins and not target.unreadable and
                not callback_in(wants[4], wants[3]) and
                (mixed or target.begins < concurrency_in(wants[5], wants[6]))
            if target.goes then some_go = true else some_move = true end
        end
        -- The size of a batch in memory is measured for each large event and for every 64th event.
        -- A key with a count of bytes would cost a write in each publication, and Ruby workers
        -- would not remove the key.
        if uid and not target.is_full and (#message >= 1024 or events % 64 == 0) then
            local batch = P .. 'batches:' .. uid
            local bytes = redis.pcall('MEMORY', 'USAGE', batch, 'SAMPLES', '0')
            target.is_full = type(bytes) == 'number' and bytes + #message >= bytes_max
        end
        if target.is_full then some_move = true end
        targets[#targets + 1] = target
    end
end
if some_move and not join then
    expect, expect_queue, callback_in, offer_to, concurrency_in, join, fresh_uid, places = batches()
end
local place, make_ready, set_aside
if some_move or some_wait then place, make_ready, set_aside = places() end
if some_begin then
    expect('HLEN', 'batches:gauges:batch')
    expect('ZCARD', 'batches:index')
end
if some_move then
    expect_queue('main')
else
    if some_go then expect('LLEN', 'jobs:instant:main') end
    if some_wait then expect('ZCARD', 'jobs:scheduled:main', 'jobs:scheduled:main:callbacks') end
end
if #targets > 0 then redis.call('HLEN', gauge) end

if only == '' then
    -- This is the first change. If it fails, nothing was changed.
    tally(ARGV[6], 1)
    tally(ARGV[7], #message)
    if claims then
        add(P .. 'routemaster:claims', publisher, 1)
        redis.call('HSET', KEYS[1], 'publisher', publisher)
    end
    if not owner and redis.call('SADD', P .. 'topics', topic) == 1 then
        note_name('topics', topic)
    end
    add(KEYS[1], 'counter', 1)
end
for _, target in ipairs(targets) do
    local token, uid = target.token, target.uid
    if not target.begins then
        redis.call('RPUSH', P .. 'batches:' .. uid, message)
    else
        local current = P .. 'batches:current:' .. token
        if stale and stale[token] then redis.call('SREM', current, stale[token]) end
        redis.call('RPUSH', P .. 'batches:' .. uid, token, now, 0, message)
        redis.call('SADD', current, uid)
        redis.call('ZADD', P .. 'batches:index', now, uid)
        add(P .. 'batches:gauges:batch', token, 1)
        join(token, uid, target.begins)
    end
    if target.unreadable then set_aside(token, uid, target.begins) end
    if target.due then
        local job = '\146\165batch\145\180' .. uid
        redis.call('SADD', jobs, job)
        if target.goes then offer_to(nil, 'main', job) else place('main', job, target.due) end
    end
    add(gauge, token, 1)
    tally('\146\172events.added\145\146\165queue' .. str(token), 1)
end
if some_move then
    for _, target in ipairs(targets) do
        if target.is_full then
            local job = '\146\165batch\145\180' .. target.uid
            redis.call('SREM', P .. 'batches:current:' .. target.token, target.uid)
            if redis.call('ZREM', P .. 'jobs:scheduled:main', job) == 1 or
                redis.call('ZREM', P .. 'jobs:scheduled:main:callbacks', job) == 1 then
                make_ready('main', job)
            end
        end
    end
end
return 1
