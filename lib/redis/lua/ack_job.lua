-- AckJob: removes a job that was done.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0
-- Reply: 1, or 0 when the lease is lost.
-- Effect: jobs that wait for it wait for it no more; its record says whether there may be any. Its
--         batch, if it has one, may end.
-- Parts: ruby_acks() gives what only the queues of Ruby Routemaster need, keyed_acks() what only a
--        job with a key needs, job_groups() what only one with an ordering group needs,
--        dependents() what only one needs that others wait for, batches() what only one of a batch
--        needs, queue_names() what only the last job of a queue needs, checks() what only a key of
--        another type needs, throughput() what only the first job of a minute needs.
local q, job, worker, fence, id = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
if q == 'main' or q == 'aux' then return ruby_acks()(q, job, worker, fence) end
local leases = P .. 'routemaster:leases:' .. worker
local leased = redis.call('HGET', leases, fence)
if not leased then return 0 end
if leased ~= q .. '\0' .. job then return keyed_acks()(q, job, worker, fence, id) end

local ids, records = 'routemaster:ids:' .. q, 'routemaster:job:' .. q
local pending = 'jobs:pending:' .. q .. ':' .. worker
local jobs, own_id, grouped, awaited, batched
local function take()
    jobs = redis.call('SCARD', KEYS[1])
    own_id = tonumber(redis.call('ZSCORE', P .. ids, job))
    -- An equal job that has a key may have that id.
    if id ~= '0' and own_id and own_id ~= tonumber(id) then return nil end
    local record = redis.call('HGET', P .. records, job)
    -- Few have an ordering group or are waited for, and few others these words.
    grouped = record and string.find(record, 'group', 1, true)
    awaited = record and string.find(record, '\165after', 1, true)
    batched = record and string.find(record, '\165batch', 1, true) and record
    if grouped or awaited then select(2, checks())(q) end
    -- The oldest are at the tail.
    return redis.call('LREM', P .. pending, -1, job)
end

-- Only to name a key of another type each is looked at by `expect`, which takes longer.
local done, taken = pcall(take)
if not done then
    local expect, expect_queue = checks()
    expect_queue(q)
    expect('LLEN', pending)
    error({err = taken})
end
if not taken then return 0 end
redis.call('HDEL', leases, fence)
if taken ~= 1 then return 0 end
if grouped then select(3, job_groups())(q, job) end
redis.call('SREM', KEYS[1], job)
redis.call('HDEL', P .. records, job)
redis.call('ZREM', P .. ids, job)
if awaited and own_id then dependents()(q, own_id) end
if jobs == 1 then select(2, queue_names())(q) end
local minute = math.floor(now / 60000)
local noted = redis.pcall('HINCRBY', P .. 'routemaster:throughput:' .. q,
    'd' .. string.format('%.0f', minute), 1)
if noted == 1 then throughput()(P .. 'routemaster:throughput:' .. q, minute) end
if batched then
    local leave_batch, settle_batches = batches()
    local read, record = pcall(cmsgpack.unpack, batched)
    if read and type(record) == 'table' and #record >= 6 then leave_batch(record, 'succeeded') end
    settle_batches()
end
return 1
