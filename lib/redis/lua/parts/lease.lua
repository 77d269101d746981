-- Leases. `routemaster:leases:{worker}` maps a fence, the number of a lease, to queue, NUL, job.
-- Its field `newest` has the last fence of the worker. Its field `cancelled` has the fences of jobs
-- that the worker must stop; some of these jobs may have ended. The job itself is in Ruby
-- Routemaster's list `jobs:pending:{q}:{worker}`, from which the scrub of any process may remove
-- it.

-- Returns whether a job without a key has the id of its lease. A lease with id 0 matches every job.
-- An unreadable id counts as equal.
local function has_id(q, job, id)
    if id == '0' then return true end
    local score = redis.pcall('ZSCORE', P .. 'routemaster:ids:' .. q, job)
    return type(score) ~= 'string' or tonumber(score) == tonumber(id)
end

-- Returns the queue in which a leased job is PENDING, and its entry there. Returns nil if the lease
-- is lost or belongs to another job. An equal job with another `id` is another job; 0 means an
-- unknown id.
local function held_in(q, job, worker, fence, id)
    local leased = redis.call('HGET', P .. 'routemaster:leases:' .. worker, fence)
    if leased == q .. '\0' .. job then
        if not has_id(q, job, id) then return nil end
        return q, job
    end
    if q == 'main' and leased == to_callbacks .. '\0' .. job then return to_callbacks, job end
    -- In a lease, a job with a key is represented by its name; see keyed.lua.
    if not leased or string.sub(leased, 1, #q + 2) ~= q .. '\0\193' then return nil end
    local name = string.sub(leased, #q + 2)
    if id ~= '0' and tonumber(string.sub(name, 2)) ~= tonumber(id) then return nil end
    local packed = redis.call('HGET', P .. 'routemaster:keyed:' .. q, name)
    local read, keyed = pcall(cmsgpack.unpack, packed or '')
    if read and type(keyed) == 'table' and keyed[1] == job then return q, name end
end

-- Ends a lease. Returns false if the worker no longer has the job. LREM begins at the tail of the
-- list, where the oldest jobs are. If the key of the worker's jobs has a wrong type, fails before
-- the first change.
local function end_lease(q, job, worker, fence)
    local ended = read_key('LREM', 'jobs:pending:' .. q .. ':' .. worker, -1, job) == 1
    local uid = mixed and batch_of(q, job)
    local token = uid and subscriber_of(uid)
    if token and redis.pcall('HDEL', P .. 'routemaster:turns:' .. token, fence) == 1 then
        local ready = {P .. 'jobs:instant:main', P .. 'routemaster:unreadable'}
        if redis.call('EXISTS', unpack(ready)) > 0 then wake('main', -1) end
        if redis.call('EXISTS', P .. 'routemaster:callbacks') == 1 then wake(to_callbacks, -1) end
    end
    redis.call('HDEL', P .. 'routemaster:leases:' .. worker, fence)
    return ended
end
