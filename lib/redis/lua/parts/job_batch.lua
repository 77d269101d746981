-- Batches of jobs. `routemaster:job_batch:{id}` is a hash with these fields:
--   name, created_at, closed_at, ended_at, succeeded_at
--   on_success, on_end      the callbacks
--   success_job, end_job    the ids of the jobs made from the callbacks
--   total, succeeded, buried, cancelled, expired, forgotten    numbers of jobs
-- A field without a value is absent. If a batch was removed or is unreadable, its jobs are not
-- counted.
--
-- `ARGV.batches` has the batches whose numbers changed in this step. At the end of the step, closed
-- batches without jobs are ended. A script called inside another script has `ARGV.within`, and
-- leaves this to the outer script.

local function batch_key(id) return P .. 'routemaster:job_batch:' .. string.format('%.0f', id) end

-- Returns the id of a job's batch; nil for most jobs.
local function batch_in(record)
    local packed = type(record[4]) == 'table' and record[4][4]
    if type(packed) ~= 'string' or not string.find(packed, '\165batch', 1, true) then return nil end
    local read, further = pcall(cmsgpack.unpack, packed)
    return read and type(further) == 'table' and tonumber(further.batch) or nil
end

-- Returns why a job may not join a batch; nil if it may. A batch whose last job ended in this step
-- accepts jobs until the end of the step.
local function may_join(id)
    local read = redis.call('HMGET', batch_key(id), 'total', 'closed_at', 'succeeded', 'buried',
        'cancelled', 'expired', 'forgotten')
    if not read[1] then return string.format('batch: there is no batch %.0f', id) end
    if not read[2] or (ARGV.batches and ARGV.batches[id]) then return nil end
    local left = tonumber(read[1])
    if not left then error({err = 'ERR a number of a batch is none'}) end
    for i = 3, 7 do left = left - (tonumber(read[i]) or 0) end
    if left <= 0 then return string.format('batch: batch %.0f has ended', id) end
end

-- Changes a number of a batch. Never fails.
local function count_in(id, number, change)
    local key = batch_key(id)
    if redis.pcall('HEXISTS', key, 'total') ~= 1 then return end
    redis.pcall('HINCRBY', key, number, change)
    ARGV.batches = ARGV.batches or {}
    ARGV.batches[id] = true
end

-- Counts a job in its batch. The job has ended, or is about to become BURIED.
local function leave_batch(record, number)
    local id = batch_in(record)
    if not id then return end
    if record[6] >= 0 then count_in(id, 'buried', -1) end
    count_in(id, number, 1)
end

-- Settles the changed batches at the end of a step: a closed batch without jobs left ends.
local function settle_batches()
    if ARGV.batches and not ARGV.within then batch_ends()() end
end
