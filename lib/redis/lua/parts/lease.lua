-- Leases: `routemaster:leases:{worker}` maps a fence to queue NUL job, `newest` to the last fence
-- of the worker, and `cancelled` to the fences of jobs that it is to stop, some of which may be
-- over. The job itself is in Ruby Routemaster's `jobs:pending:{q}:{worker}`, from which the scrub
-- of any process may take it.

-- Whether a job without a key has an id that a lease names; 0 names none. What cannot be read is no
-- reason to refuse it.
local function has_id(q, job, id)
    if id == '0' then return true end
    local score = redis.pcall('ZSCORE', P .. 'routemaster:ids:' .. q, job)
    return type(score) ~= 'string' or tonumber(score) == tonumber(id)
end

-- The queue in which a job is PENDING under a lease of `q`, and what it stands there as; nil when
-- the lease is lost, or that of another job, be it equal but for its `id`, which is 0 where it is
-- not known.
local function held_in(q, job, worker, fence, id)
    local leased = redis.call('HGET', P .. 'routemaster:leases:' .. worker, fence)
    if leased == q .. '\0' .. job then
        if not has_id(q, job, id) then return nil end
        return q, job
    end
    if q == 'main' and leased == to_callbacks .. '\0' .. job then return to_callbacks, job end
    -- A job with a key stands there as its name.
    if not leased or string.sub(leased, 1, #q + 2) ~= q .. '\0\193' then return nil end
    local name = string.sub(leased, #q + 2)
    if id ~= '0' and tonumber(string.sub(name, 2)) ~= tonumber(id) then return nil end
    local packed = redis.call('HGET', P .. 'routemaster:keyed:' .. q, name)
    local read, keyed = pcall(cmsgpack.unpack, packed or '')
    if read and type(keyed) == 'table' and keyed[1] == job then return q, name end
end

-- Ends a lease; false when the worker no longer has the job. The oldest jobs are at the tail. It
-- checks the key of the worker's jobs before it changes anything.
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
