-- Jobs with a priority. While such a job waits, `routemaster:ranks:{q}` has its id, of 16 digits:
-- of a READY one by its rank, which is when it fell due, less a minute for each level of its
-- priority; of a SCHEDULED one behind all, at +inf. Those of one rank stand in the order of their
-- ids. A READY one is in no list.

-- Lets a READY job with a priority be acquired.
local function offer_ranked(q, id, at, priority)
    redis.call('ZADD', P .. 'routemaster:ranks:' .. q, at - priority * 60000,
        string.format('%016.0f', id))
    wake(q, -1)
end

-- Places a job with a priority that has no place yet.
local function place_ranked(q, job, id, at, priority)
    if at <= now then
        offer_ranked(q, id, at, priority)
    else
        redis.call('ZADD', P .. 'routemaster:ranks:' .. q, '+inf', string.format('%016.0f', id))
        redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
        wake(q, at)
    end
end

-- Makes a job that has an id, and no place yet, READY or SCHEDULED, as its record says.
-- job_groups() gives what only one with an ordering group needs.
local function place_by(q, job, at, record)
    local group, concurrency = group_in(record)
    if group then return job_groups()(q, job, at, record, group, concurrency) end
    local priority = priority_in(record)
    if priority == 0 then
        place_own(q, job, at)
    else
        place_ranked(q, job, id_of(q, job), at, priority)
    end
end
