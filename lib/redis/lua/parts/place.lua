-- Makes a job that has no place yet READY or SCHEDULED. Fails only when a key of the queue has
-- another type.

-- Makes a job READY that has an id. `routemaster:due:{q}` has since when each of
-- `jobs:instant:{q}` has been due, in the same order. Versions before it do not keep it: then it
-- has another length, says nothing, and begins anew once the other one was empty.
local function add_ready(q, job, since)
    local due = P .. 'routemaster:due:' .. q
    local size = redis.call('LPUSH', P .. 'jobs:instant:' .. q, job)
    local noted = redis.pcall('LPUSH', due, since)
    if noted ~= size then redis.pcall('LTRIM', due, size == 1 and 0 or 1, 0) end
    if size == 1 then wake(q, -1) end
end

-- `since` is when it fell due.
local function make_ready(q, job, since)
    if q ~= 'main' and q ~= 'aux' and q ~= to_callbacks then return add_ready(q, job, since) end
    local uid = batch_of(q, job)
    local token = uid and subscriber_of(uid)
    if q == to_callbacks then q = 'main' end
    if token and not may_run(token, uid) then
        redis.call('SADD', P .. 'routemaster:blocked:' .. q, job)
        return
    end
    offer(q, job, token)
end

local function place(q, job, at)
    if at <= now then
        make_ready(q, job, at)
    else
        local uid = batch_of(q, job)
        local token = uid and subscriber_of(uid)
        local name = token and callback_of(token)
        if name and name ~= '' then
            q = to_callbacks
        elseif q == to_callbacks then
            q = 'main'
        end
        redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
        wake(q, at)
    end
end
