-- Deleted READY jobs. To remove a job from `jobs:instant:{q}`, Redis would search the whole list.
-- Therefore a deleted job stays in the list until popped. `routemaster:deleted:{q}` counts how
-- often each deleted job is in the list; its field "" has the total. An equal job that is pushed
-- later is behind the deleted copies. The first job of the list is never deleted, unless more than
-- 1,000 deleted jobs follow one another.

local function deleted_in(q)
    return tonumber(redis.call('HGET', P .. 'routemaster:deleted:' .. q, '') or 0) or 0
end

-- Returns whether a job that is being popped was deleted. If so, decrements its count.
local function was_deleted(q, job)
    local deleted = P .. 'routemaster:deleted:' .. q
    local times = tonumber(redis.call('HGET', deleted, job) or 0) or 0
    if times == 0 then return false end
    if redis.call('HINCRBY', deleted, job, -1) <= 0 then redis.call('HDEL', deleted, job) end
    if redis.call('HINCRBY', deleted, '', -1) <= 0 then redis.call('DEL', deleted) end
    return true
end

-- Pops up to `most` of the first READY jobs. Returns false if there is none. Returns the jobs and
-- their due times, if known.
local function pop_ready(q, most)
    local jobs = redis.call('RPOP', P .. 'jobs:instant:' .. q, most)
    local dues = jobs and redis.pcall('RPOP', P .. 'routemaster:due:' .. q, #jobs)
    return jobs, type(dues) == 'table' and not dues.err and dues or {}
end

-- Pops the deleted jobs at the head of the list, at most 1,000. `deleted` is the number of deleted
-- jobs in the list. Returns how many jobs were popped.
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
