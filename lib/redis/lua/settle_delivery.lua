-- SettleDelivery: ends a delivery, in one step with its job.
-- KEYS  1 jobs:index:main
-- ARGV  1 prefix, 2 now, 3 mixed, 4 queue, 5 job, 6 worker, 7 fence, 8 "1" when delivered,
--       9 change of health, 10 begun_at, 11 retry_at, 12 lane_max
-- Reply: 1, or 0 when the lease is lost.
local q, job, worker, fence = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
if not holds(q, job, worker, fence) then return 0 end
local uid = batch_of(q, job)
local head = uid and redis.call('LRANGE', P .. 'batches:' .. uid, 0, 2)
local token = head and head[1]
if not token then
    return redis.error_reply('INVALID lease: not a delivery job, or its batch is gone')
end
expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
expect('SCARD', 'subscribers')
expect_batch(token)
if not let_go(q, job, worker, fence) then return 0 end

local delivered, begun_at = ARGV[8] == '1', tonumber(ARGV[10])
local status = delivered and 'success' or 'failure'
-- At most a day, whatever the clock did meanwhile: its square must stay a whole number.
local took = math.min(math.max(now - begun_at, 0), 86400000)
local age = begun_at - (tonumber(head[2]) or begun_at)
count_status('delivery.batches', token, status, 1)
count_status('delivery.events', token, status, redis.call('LLEN', P .. 'batches:' .. uid) - 3)
count_status('delivery.time', token, status, took)
count_status('delivery.time2', token, status, took * took)
if head[3] == '1' then
    count('latency.batches.count', token, 1)
    count('latency.batches.first_attempt', token, age)
end
if delivered then count('latency.batches.last_attempt', token, age) end

local known = redis.call('SISMEMBER', P .. 'subscribers', token) == 1
if known then
    local points = redis.call('HGET', P .. 'subscriber:' .. token, 'health_points')
    redis.call('HSET', P .. 'subscriber:' .. token, 'health_points',
        math.max(0, math.min(100, (tonumber(points) or 100) + ARGV[9])))
end
if delivered then
    redis.call('SREM', KEYS[1], job)
    remove_batch(uid, token)
else
    place(q, job, tonumber(ARGV[11]))
end
if known and not mixed then adapt(token, delivered, tonumber(ARGV[12])) end
return 1
