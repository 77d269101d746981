-- Since when the job of a queue has been due that is READY first, of those with a priority and of
-- those without, or the oldest that waits for a token of its group, or the SCHEDULED one that is
-- due first, whichever has been longest. Nil when there
-- is none, and when the one in the list does not say: it was pushed by a version before
-- `routemaster:due:{q}`, or is deleted.
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
