-- READY jobs that were deleted. Redis would search all of `jobs:instant:{q}` for one, so it stays
-- there until it is popped, and `routemaster:deleted:{q}` says how often; the field "" says how
-- many there are in all. An equal job that is pushed meanwhile stands behind it. None is first in
-- the list, unless more than 1,000 follow one another.

local function deleted_in(q)
    return tonumber(redis.call('HGET', P .. 'routemaster:deleted:' .. q, '') or 0) or 0
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

-- Pops the first READY jobs, at most `most`; false when there is none. Returns them, and since when
-- each has been due, as far as that is known.
local function pop_ready(q, most)
    local jobs = redis.call('RPOP', P .. 'jobs:instant:' .. q, most)
    local dues = jobs and redis.pcall('RPOP', P .. 'routemaster:due:' .. q, #jobs)
    return jobs, type(dues) == 'table' and not dues.err and dues or {}
end

-- Pops what was deleted and is first, of `deleted` that there are. Returns how many it popped.
local function pop_deleted(q, deleted)
    local most = math.min(deleted, 1000)
    for popped = 1, most do
        local first = redis.call('LINDEX', P .. 'jobs:instant:' .. q, -1)
        if not first or not was_deleted(q, first) then return popped - 1 end
        pop_ready(q, 1)
    end
    return most
end

local function note_deleted(q, job)
    local deleted, instant = P .. 'routemaster:deleted:' .. q, P .. 'jobs:instant:' .. q
    redis.call('HINCRBY', deleted, job, 1)
    local all = redis.call('HINCRBY', deleted, '', 1)
    if all < redis.call('LLEN', instant) then
        pop_deleted(q, all)
        return
    end
    redis.call('UNLINK', deleted, instant)
    redis.pcall('LTRIM', P .. 'routemaster:due:' .. q, 1, 0)
end
