-- Leases: `routemaster:leases:{worker}` maps a fence to queue NUL job, and `newest` to the last
-- fence of the worker. The job itself is in Ruby Routemaster's `jobs:pending:{q}:{worker}`,
-- from which the scrub of any process may take it.

-- The queue in which a job is PENDING under a lease of `q`; nil when the lease is lost.
local function held_in(q, job, worker, fence)
    local blocked = redis.call('HGET', P .. 'routemaster:leases:' .. worker, fence)
    if blocked == q .. '\0' .. job then return q end
    if q == 'main' and blocked == to_callbacks .. '\0' .. job then return to_callbacks end
end

-- Ends a lease; false when the worker no longer has the job. The oldest jobs are at the tail.
local function end_lease(q, job, worker, fence)
    local uid = mixed and batch_of(q, job)
    local token = uid and subscriber_of(uid)
    if token and redis.pcall('HDEL', P .. 'routemaster:turns:' .. token, fence) == 1 then
        if redis.call('EXISTS', P .. 'jobs:instant:main') == 1 then wake('main', -1) end
        if redis.call('EXISTS', P .. 'routemaster:callbacks') == 1 then wake(to_callbacks, -1) end
    end
    redis.call('HDEL', P .. 'routemaster:leases:' .. worker, fence)
    return redis.call('LREM', P .. 'jobs:pending:' .. q .. ':' .. worker, -1, job) == 1
end
