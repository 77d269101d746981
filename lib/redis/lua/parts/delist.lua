-- Removes a queue from the list of queues, unless it has jobs, is paused or has rate limits; see
-- enlist.lua. Not to be called for `main` and `aux`.
local function delist(q)
    if redis.call('EXISTS', P .. 'jobs:index:' .. q) == 1 then return end
    -- No worker has a lease in the queue, because the queue has no jobs.
    redis.call('UNLINK', P .. 'jobs:pending:index:' .. q)
    local flags = redis.pcall('SMISMEMBER', P .. 'routemaster:paused', q, ':' .. q)
    if flags[1] == 1 or flags[2] == 1 then return end
    redis.pcall('SREM', P .. 'routemaster:queues', q)
    forget_name('routemaster:queues', q)
end
