-- Gives a job that is nowhere its place among the READY or the SCHEDULED.

local function make_ready(q, job)
    local uid = batch_of(q, job)
    local token = uid and subscriber_of(uid)
    if token and not may_run(token, uid) then
        redis.call('SADD', P .. 'routemaster:held:' .. q, job)
        return
    end
    redis.call('LPUSH', P .. 'jobs:instant:' .. q, job)
    wake(q, -1)
end

local function place(q, job, at)
    if at <= now then
        make_ready(q, job)
    else
        redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
        wake(q, at)
    end
end
