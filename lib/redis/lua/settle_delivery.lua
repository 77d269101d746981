-- SettleDelivery: ends a delivery, in one step with its job.
-- KEYS  1 jobs:index:main
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 "1" when delivered,
--       9 change of health, 10 begun_at, 11 retry_at, 12 "1" when permanent, 13 error,
--       14 concurrency_max
-- Effect: the last failure that the subscriber allows makes the batch DEAD, and drops those that
--       died first beyond `dead_max`, at most 1,000.
-- Reply: 1, or 0 when the lease is lost, or 2 when the batch is DEAD now.
local job, worker, fence = ARGV[5], ARGV[6], ARGV[7]
local q = held_in(ARGV[4], job, worker, fence, '0')
if not q then return 0 end
local uid = batch_of(q, job)
local head = uid and redis.call('LRANGE', P .. 'batches:' .. uid, 0, 2)
local token = head and head[1]
if not token then
    return redis.error_reply('INVALID lease: not a delivery job, or its batch is gone')
end
expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
expect('SCARD', 'subscribers')
expect_batch(token)
expect_dead(token)
if ARGV[8] ~= '1' then expect('LLEN', 'routemaster:dead_batch:' .. uid) end
if not end_lease(q, job, worker, fence) then return 0 end

local delivered, begun_at = ARGV[8] == '1', tonumber(ARGV[10])
local created_at, attempts = tonumber(head[2]), tonumber(head[3]) or 0

-- Whether the failure is the last of its batch: 0, or a value that is not a number, means no limit.
local function dies(attempts_max, age_max)
    if attempts_max <= 0 and age_max <= 0 then return false end
    return ARGV[12] == '1' or (attempts_max > 0 and attempts >= attempts_max) or
        (age_max > 0 and now - (created_at or now) >= age_max)
end

local status = delivered and 'success' or 'failure'
-- At most a day, even if the clock was set meanwhile: its square must stay a whole number.
local took = math.min(math.max(now - begun_at, 0), 86400000)
local age = begun_at - (created_at or begun_at)
count_status('delivery.batches', token, status, 1)
local events = redis.call('LLEN', P .. 'batches:' .. uid) - 3
count_status('delivery.events', token, status, events)
count_status('delivery.time', token, status, took)
count_status('delivery.time2', token, status, took * took)
if head[3] == '1' then
    count('latency.batches.count', token, 1)
    count('latency.batches.first_attempt', token, age)
end
if delivered then count('latency.batches.last_attempt', token, age) end

local dead, dead_max = false, nil
local exists = redis.call('SISMEMBER', P .. 'subscribers', token) == 1
if exists then
    local known = redis.call('HMGET', P .. 'subscriber:' .. token, 'health_points',
        'attempts_max', 'age_max', 'dead_max')
    redis.call('HSET', P .. 'subscriber:' .. token, 'health_points',
        math.max(0, math.min(100, (tonumber(known[1]) or 100) + ARGV[9])))
    dead = not delivered and dies(tonumber(known[2]) or 0, tonumber(known[3]) or 0)
    dead_max = tonumber(known[4]) or 1000
end
if delivered then
    redis.call('SREM', KEYS[1], job)
    remove_batch(uid, token)
elseif dead then
    local kept = P .. 'routemaster:dead_batch:' .. uid
    redis.call('SREM', KEYS[1], job)
    redis.call('RENAME', P .. 'batches:' .. uid, kept)
    redis.call('DEL', error_key(uid))
    redis.call('LPUSH', kept, ARGV[13])
    redis.call('ZADD', P .. 'routemaster:dead', now, uid)
    redis.call('ZADD', P .. 'routemaster:dead:' .. token, now, uid)
    dequeue(uid, token, events)
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
if exists and not mixed then adapt(token, delivered, tonumber(ARGV[14])) end
return dead and 2 or 1
