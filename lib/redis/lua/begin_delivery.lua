-- BeginDelivery: begins the delivery of the batch named by a leased delivery job.
-- KEYS  1 jobs:index:main
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 backoff_max, 9 jitter, 10
--       concurrency_max, 11 pause
-- Effect: normally seals the batch and records the attempt. A delivery to an unhealthy subscriber
--         may be released with a delay instead (throttled). A delivery beyond the limit of its
--         ordering group is released and blocked. A batch without a subscriber or without events is
--         removed (vanished).
-- Reply: 0 lease lost; 1 throttled; 2 vanished; 3 at its limit; or for a delivery: uid, creation
--        time, attempt, token, callback, uuid, timeout, max_events, max_in_flight, attempts_max,
--        age_max, dead_max, health_points, messages.

-- The formula is that of routemaster/health.hpp.
local function retry_time(wait)
    local slack = 1
    while slack < 1024 and slack * 4 <= wait do slack = slack * 2 end
    return math.ceil((now + wait) / slack) * slack
end

local job, worker, fence = ARGV[5], ARGV[6], ARGV[7]
local q = held_in(ARGV[4], job, worker, fence, '0')
if not q then return 0 end
-- Only a Ruby worker removes a PENDING job without ending its lease. The lease is ended here.
if mixed and not redis.call('LPOS', P .. 'jobs:pending:' .. q .. ':' .. worker, job) then
    end_lease(q, job, worker, fence)
    return 0
end
local uid = batch_of(q, job)
if not uid then return redis.error_reply('INVALID lease: not a delivery job') end

local list = P .. 'batches:' .. uid
local head = redis.call('LRANGE', list, 0, 2)
local token = head[1]
local known = token and redis.call('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid',
    'timeout', 'max_events', 'max_in_flight', 'health_points', 'last_attempted_at', 'window',
    'attempts_max', 'age_max', 'dead_max')
local events = redis.call('LLEN', list) - 3
if not token or not known[2] or events <= 0 then
    expect_batch(token or '')
    end_lease(q, job, worker, fence)
    redis.call('SREM', KEYS[1], job)
    if token then
        remove_batch(uid, token, math.max(events, 0))
    else
        redis.call('DEL', unreadable_key(uid))
    end
    return 2
end

local health = tonumber(known[6]) or 100
local attempted = tonumber(known[7])
if health < 100 then
    local wait = attempted and math.floor(math.ldexp(tonumber(ARGV[8]), -health) + 0.5) or 0
    -- A time in the distant future was stored while the clock was ahead. It does not delay this
    -- attempt.
    if wait > 0 and math.abs(now - attempted) >= wait then wait = 0 end
    wait = math.max(wait, tonumber(ARGV[11]))
    if wait > 0 then
        expect_batch(token)
        expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
        count_status('delivery.batches', token, 'throttled', 1)
        count_status('delivery.events', token, 'throttled', events)
        end_lease(q, job, worker, fence)
        place(q, job, retry_time(math.floor(wait * (1 + tonumber(ARGV[9])) + 0.5)))
        return 1
    end
end

if not mixed then
    -- When the limit of a group decreases, the READY jobs beyond the limit are not blocked at once.
    -- Workers block these jobs in later acquisitions.
    local concurrency = tonumber(known[5]) or 1
    local window = math.min(concurrency, tonumber(known[8]) or group_start)
    local limit = math.max(1, math.min(window, tonumber(ARGV[10])))
    local place_in_group = read_key('ZRANK', 'routemaster:group:' .. token, uid) or 0
    local is_beyond = place_in_group >= limit
    if is_beyond or limit < window then
        expect_batch(token)
        expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
    end
    if limit < window then redis.call('HSET', P .. 'subscriber:' .. token, 'window', limit) end
    if is_beyond then
        end_lease(q, job, worker, fence)
        place(q, job, now)
        return 3
    end
end

local attempt = (tonumber(head[3]) or 0) + 1
read_key('SREM', 'batches:current:' .. token, uid)
redis.call('LSET', list, 2, attempt)
redis.call('HSET', P .. 'subscriber:' .. token, 'last_attempted_at', now)
return {uid, head[2], attempt, token, known[1], known[2], known[3], known[4], known[5], known[9],
    known[10], known[11], health, redis.call('LRANGE', list, 3, -1)}
