-- Batches of jobs. `routemaster:job_batch:{id}` is a hash: name, created_at, closed_at, ended_at,
-- succeeded_at, the callbacks on_success and on_end, the jobs that these became, success_job and
-- end_job, and how far the batch has come: total, succeeded, buried, cancelled, expired, forgotten.
-- What is not yet is absent. Of a batch that is gone, or that cannot be read, nothing is counted.
-- `ARGV.batches` has the batches of whose jobs something has become in this step, which settles
-- them at its end; a script that is part of another, `ARGV.within`, leaves that to the other.

local function batch_key(id) return P .. 'routemaster:job_batch:' .. string.format('%.0f', id) end

-- The batch of a job; nil for most.
local function batch_in(record)
    local packed = type(record[4]) == 'table' and record[4][4]
    if type(packed) ~= 'string' or not string.find(packed, '\165batch', 1, true) then return nil end
    local read, further = pcall(cmsgpack.unpack, packed)
    return read and type(further) == 'table' and tonumber(further.batch) or nil
end

-- Why a job may not join a batch; nil when it may. What becomes of the last job of the batch in
-- this step does not end it before the step does.
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

-- A job is over, or about to be BURIED: what it has become is counted.
local function leave_batch(record, number)
    local id = batch_in(record)
    if not id then return end
    if record[6] >= 0 then count_in(id, 'buried', -1) end
    count_in(id, number, 1)
end

-- The end of a step: what it has brought to its end, ends.
local function settle_batches()
    if ARGV.batches and not ARGV.within then batch_ends()() end
end
