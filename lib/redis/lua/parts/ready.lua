-- Makes jobs READY or SCHEDULED, in queues whose jobs have ids.

-- Makes a job READY and returns how many jobs are READY. `routemaster:due:{q}` has the due times of
-- the jobs in `jobs:instant:{q}`, in the same order. Earlier versions do not write the due times.
-- The lengths of the lists then differ, and the due times are ignored until `jobs:instant:{q}` has
-- been empty.
local function add_ready(q, job, since)
    local due = P .. 'routemaster:due:' .. q
    local size = redis.call('LPUSH', P .. 'jobs:instant:' .. q, job)
    local noted = redis.pcall('LPUSH', due, since)
    if noted ~= size then redis.pcall('LTRIM', due, size == 1 and 0 or 1, 0) end
    if size == 1 then wake(q, -1) end
    return size
end

local function add_scheduled(q, job, at)
    redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
    wake(q, at)
end

-- Makes a job READY or SCHEDULED by its due time. Returns whether the job may be the only job of
-- its queue.
local function place_own(q, job, at)
    if at <= now then return add_ready(q, job, at) == 1 end
    add_scheduled(q, job, at)
    return true
end
