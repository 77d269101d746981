-- Jobs with a priority. While such a job waits, `routemaster:ranks:{q}` has its id in 16 digits.
-- The score of a READY job is its rank: its due time minus 60,000 ms for each level of its
-- priority. The score of a SCHEDULED job is +inf. Jobs of equal rank are sorted by their ids. A
-- READY job with a rank is in no other list.

local function offer_ranked(q, id, at, priority)
    redis.call('ZADD', P .. 'routemaster:ranks:' .. q, at - priority * 60000,
        string.format('%016.0f', id))
    wake(q, -1)
end

-- Makes a job with a priority READY or SCHEDULED. The job must be in no list.
local function place_ranked(q, job, id, at, priority)
    if at <= now then
        offer_ranked(q, id, at, priority)
    else
        redis.call('ZADD', P .. 'routemaster:ranks:' .. q, '+inf', string.format('%016.0f', id))
        redis.call('ZADD', P .. 'jobs:scheduled:' .. q, at, job)
        wake(q, at)
    end
end

-- Makes a job with an id READY or SCHEDULED, according to its record. The job must be in no list.
-- job_groups() defines the functions for jobs with an ordering group.
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
