-- delivery_state() searches only the first 10,000 READY jobs for URLs, in the order of acquisition.
local delivery_state
do
    local most = 10000
    local first, more
    local function is_ready(job)
        if not first then
            first = {}
            local jobs = redis.call('LRANGE', P .. 'jobs:instant:main', -most, -1)
            for _, each in ipairs(jobs) do first[each] = true end
            more = #jobs == most
        end
        return first[job] or more
    end

    -- Returns the state of a batch's job, numbered as in job_status(), and the due time if the job
    -- is SCHEDULED.
    delivery_state = function(uid)
        local job = delivery_prefix .. uid
        local at = redis.call('ZSCORE', P .. 'jobs:scheduled:main', job) or
            redis.call('ZSCORE', P .. 'jobs:scheduled:main:callbacks', job)
        if at then
            if tonumber(at) > now then return 0, at end
            return 1
        end
        if redis.call('SISMEMBER', P .. 'jobs:index:main', job) == 0 or
            redis.call('SISMEMBER', P .. 'routemaster:blocked:main', job) == 1 or
            redis.call('SISMEMBER', P .. 'routemaster:callbacks', job) == 1 or is_ready(job) then
            return 1
        end
        return 2
    end
end

-- Returns a queued batch of a subscriber as replies list it: uid, creation time, attempts, events,
-- 1 when CURRENT, state, due time or "", last error. Returns nil when the batch does not exist.
local function queued_batch(uid, token)
    local list = P .. 'batches:' .. uid
    local head = redis.call('LRANGE', list, 0, 2)
    if head[1] ~= token then return nil end
    local state, at = delivery_state(uid)
    return {uid, head[2], head[3], redis.call('LLEN', list) - 3,
        redis.call('SISMEMBER', P .. 'batches:current:' .. token, uid), state, at or '',
        redis.call('GET', error_key(uid)) or ''}
end
