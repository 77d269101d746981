-- READY jobs that were deleted. Redis would search all of `jobs:instant:{q}` for one, so it stays
-- there until it is popped, and `routemaster:deleted:{q}` says how often; the field "" says how
-- many there are in all. An equal job that is pushed meanwhile stands behind it.

local function deleted_in(q)
    return tonumber(redis.call('HGET', P .. 'routemaster:deleted:' .. q, '') or 0) or 0
end

local function note_deleted(q, job)
    local deleted, instant = P .. 'routemaster:deleted:' .. q, P .. 'jobs:instant:' .. q
    redis.call('HINCRBY', deleted, job, 1)
    if redis.call('HINCRBY', deleted, '', 1) >= redis.call('LLEN', instant) then
        redis.call('UNLINK', deleted, instant)
    end
end

-- Whether a job that was popped, or is about to be, had been deleted; then this is noted as done.
local function was_deleted(q, job)
    local deleted = P .. 'routemaster:deleted:' .. q
    local times = tonumber(redis.call('HGET', deleted, job) or 0) or 0
    if times == 0 then return false end
    if redis.call('HINCRBY', deleted, job, -1) <= 0 then redis.call('HDEL', deleted, job) end
    if redis.call('HINCRBY', deleted, '', -1) <= 0 then redis.call('DEL', deleted) end
    return true
end
