-- READY and SCHEDULED jobs of queues whose jobs have ids.

-- Makes a job READY. `routemaster:due:{q}` has since when each of `jobs:instant:{q}` has been due,
-- in the same order. Versions before it do not keep it: then it has another length, says nothing,
-- and begins anew once the other one was empty. Returns how many are READY.
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

-- One of the two, by when it is due. Returns whether it may be the only job of its queue.
local function place_own(q, job, at)
    if at <= now then return add_ready(q, job, at) == 1 end
    add_scheduled(q, job, at)
    return true
end
