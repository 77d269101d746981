-- AckJob: removes a job that was completed.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0
-- Reply: 1, or 0 when the lease is lost.
-- Effect: releases the jobs that wait for this job. Its record says whether there may be any. May
--         end the batch of the job.
-- Parts: these functions define further functions when needed: ruby_acks() for `main` and `aux`,
--        keyed_acks() for a job with a key, job_groups() for an ordering group, dependents() for a
--        job with dependents, batches() for a job in a batch, queue_names() for the last job of a
--        queue, checks() for a key of another type, throughput() for the first job of a minute.
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
    -- The id may belong to an equal job with a key. That job is not the job of the lease.
    if id ~= '0' and own_id and own_id ~= tonumber(id) then return nil end
    local record = redis.call('HGET', P .. records, job)
    -- Searches the record for the names of optional fields. Few jobs have an ordering group,
    -- dependents or a batch. A false match, elsewhere in the record, only costs time.
    grouped = record and string.find(record, 'group', 1, true)
    awaited = record and string.find(record, '\165after', 1, true)
    batched = record and string.find(record, '\165batch', 1, true) and record
    if grouped or awaited then select(2, checks())(q) end
    -- LREM searches from the tail, where the oldest jobs are.
    return redis.call('LREM', P .. pending, -1, job)
end

-- Most calls do not check keys first, because these checks take long. After an error, `expect`
-- checks each key, to find the key with a wrong type.
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
