-- Makes a job that has no place yet READY or SCHEDULED. Fails only when a key of the queue has
-- another type.

local function make_ready(q, job)
    local uid = batch_of(q, job)
    local token = uid and subscriber_of(uid)
    if token and not may_run(token, uid) then
        redis.call('SADD', P .. 'routemaster:blocked:' .. q, job)
        return
    end
    -- Workers wait only while the queue is empty; those of Ruby Routemaster do not record that.
    if redis.call('LPUSH', P .. 'jobs:instant:' .. q, job) == 1 or mixed then wake(q, -1) end
end

local function place(q, job, at)
    if at <= now then
        make_ready(q, job)
    else
        redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
        wake(q, at)
    end
end
