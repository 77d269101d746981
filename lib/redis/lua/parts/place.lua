-- Makes a job that has no place yet READY or SCHEDULED. Fails only when a key of the queue has
-- another type. `since` is when it fell due.

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
        add_scheduled(q, job, at)
    end
end
