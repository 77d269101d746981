-- Returns the earliest due time of a due job in the queue. The candidates are the first READY job
-- with a priority, the first READY job without a priority, the oldest job that waits for a token of
-- its group, and the first SCHEDULED job, if due. Returns nil without a candidate. Also returns nil
-- if the due time of the first job in the list is unknown: the job was deleted, or an older version
-- of routemaster pushed the job without writing `routemaster:due:{q}`.
local function due_since(q)
    local instant, due = P .. 'jobs:instant:' .. q, P .. 'routemaster:due:' .. q
    local size = redis.call('LLEN', instant)
    local since
    if size > 0 then
        if redis.pcall('LLEN', due) ~= size then return nil end
        local deleted = redis.call('HEXISTS', P .. 'routemaster:deleted:' .. q,
            redis.call('LINDEX', instant, -1))
        since = deleted == 0 and tonumber(redis.call('LINDEX', due, -1))
        if not since then return nil end
    end
    local ranked = redis.call('ZRANGE', P .. 'routemaster:ranks:' .. q, 0, 0, 'WITHSCORES')
    local rank = tonumber(ranked[2]) or math.huge
    local job = rank < math.huge and job_of(q, tonumber(ranked[1]))
    if job then
        since = math.min(since or math.huge, rank + priority_in(record_of(q, job)) * 60000)
    end
    local oldest = redis.pcall('ZRANGE', P .. 'routemaster:throttled_since:' .. q, 0, 0,
        'WITHSCORES')[2]
    if oldest then since = math.min(since or math.huge, tonumber(oldest)) end
    local first = redis.call('ZRANGE', P .. 'jobs:scheduled:' .. q, 0, 0, 'WITHSCORES')[2]
    local at = tonumber(first)
    if at and at <= now and at < (since or math.huge) then since = at end
    return since
end
