-- SettleDelivery: ends a delivery and its job in one step.
-- KEYS  1 jobs:index:main
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 "1" when delivered, 9 the
--       change of the subscriber's health, 10 begun_at, 11 retry_at, 12 "1" for a permanent
--       failure, 13 error, 14 concurrency_max
-- Effect: after the last allowed failure, the batch becomes DEAD, and up to 1,000 of the oldest
--         DEAD batches beyond `dead_max` are dropped.
-- Reply: 1, or 0 when the lease is lost, or 2 when the batch is now DEAD.
local job, worker, fence = ARGV[5], ARGV[6], ARGV[7]
local q = held_in(ARGV[4], job, worker, fence, '0')
if not q then return 0 end
local uid = batch_of(q, job)
local head = uid and redis.call('LRANGE', P .. 'batches:' .. uid, 0, 2)
local token = head and head[1]
if not token then
    return redis.error_reply('INVALID lease: not a delivery job, or its batch no longer exists')
end
local delivered, begun_at = ARGV[8] == '1', tonumber(ARGV[10])
local events = math.max(redis.call('LLEN', P .. 'batches:' .. uid) - 3, 0)
local exists = read_key('SISMEMBER', 'subscribers', token) == 1
local known = read_key('HMGET', 'subscriber:' .. token, 'health_points', 'attempts_max',
    'age_max', 'dead_max', 'max_in_flight', 'window')
-- Whether the batch is the only one of its subscriber. Its removal then unblocks no other batch.
local group = read_key('ZRANGE', 'routemaster:group:' .. token, 0, 1)
local is_alone = group[1] == uid and not group[2]
expect_ended_batch(token)
if not delivered or not is_alone then expect_queue('main') end
if not delivered then
    expect_dead(token)
    expect('LLEN', 'routemaster:dead_batch:' .. uid)
end
if not end_lease(q, job, worker, fence) then return 0 end

local created_at, attempts = tonumber(head[2]), tonumber(head[3]) or 0

-- Returns whether this failure makes the batch DEAD. A limit of 0, or a limit that is no number,
-- means no limit.
local function dies(attempts_max, age_max)
    if attempts_max <= 0 and age_max <= 0 then return false end
    return ARGV[12] == '1' or (attempts_max > 0 and attempts >= attempts_max) or
        (age_max > 0 and now - (created_at or now) >= age_max)
end

local status = delivered and 'success' or 'failure'
-- Limited to a day, because the clock may have been set meanwhile. The square of the time must
-- remain an exact number.
local took = math.min(math.max(now - begun_at, 0), 86400000)
local age = begun_at - (created_at or begun_at)
count_status('delivery.batches', token, status, 1)
count_status('delivery.events', token, status, events)
count_status('delivery.time', token, status, took)
count_status('delivery.time2', token, status, took * took)
if head[3] == '1' then
    count('latency.batches.count', token, 1)
    count('latency.batches.first_attempt', token, age)
end
if delivered then count('latency.batches.last_attempt', token, age) end

local dead, dead_max = false, nil
if exists then
    local before = tonumber(known[1])
    local health = math.max(0, math.min(100, (before or 100) + ARGV[9]))
    if health ~= before then
        redis.call('HSET', P .. 'subscriber:' .. token, 'health_points', health)
    end
    dead = not delivered and dies(tonumber(known[2]) or 0, tonumber(known[3]) or 0)
    dead_max = tonumber(known[4]) or 1000
end
if delivered then
    redis.call('SREM', KEYS[1], job)
    remove_batch(uid, token, events, is_alone)
elseif dead then
    local kept = P .. 'routemaster:dead_batch:' .. uid
    redis.call('SREM', KEYS[1], job)
    redis.call('RENAME', P .. 'batches:' .. uid, kept)
    redis.call('DEL', error_key(uid))
    redis.call('LPUSH', kept, ARGV[13])
    redis.call('ZADD', P .. 'routemaster:dead', now, uid)
    redis.call('ZADD', P .. 'routemaster:dead:' .. token, now, uid)
    dequeue(uid, token, events, is_alone)
    count('batches.dead', token, 1)
    count('events.dead', token, events)
    local beyond = redis.call('ZCARD', P .. 'routemaster:dead:' .. token) - dead_max
    if beyond > 0 then
        for _, first in ipairs(redis.call('ZRANGE', P .. 'routemaster:dead:' .. token, 0,
            math.min(beyond, 1000) - 1)) do
            drop_dead(first, token)
        end
    end
else
    redis.call('SET', error_key(uid), ARGV[13], 'PX', 86400000)
    place(q, job, tonumber(ARGV[11]))
end
if exists and not mixed then
    adapt(token, delivered, tonumber(ARGV[14]), known[5], known[6])
end
return dead and 2 or 1
