-- Makes a job READY or SCHEDULED. The job must be in no list. Fails only if a key of the queue has
-- a wrong type. `since` is the due time of the job.

-- Hides a job of `aux` from Ruby workers unable to run the job. Returns whether the job was hidden.
local function keep_from_ruby(q, job, at)
    if q ~= 'aux' or not mixed or is_known_to_ruby(job) then return false end
    redis.call('ZADD', P .. 'routemaster:aux', at, job)
    return true
end

local function make_ready(q, job, since)
    if keep_from_ruby(q, job, since) then return end
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
    elseif not keep_from_ruby(q, job, at) then
        local uid = batch_of(q, job)
        local token = uid and subscriber_of(uid)
        local name = token and destination_of(token, uid)
        if name and name ~= '' then
            q = to_callbacks
            if name == unreadable then wake('main', at) end
        elseif q == to_callbacks then
            q = 'main'
        end
        add_scheduled(q, job, at)
    end
end
