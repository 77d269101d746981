-- Removes the name of a queue from the list of queues, unless the queue has jobs, is paused or has
-- rate limits; see enlist.lua. Not for `main` and `aux`.
local function delist(q)
    if redis.call('EXISTS', P .. 'jobs:index:' .. q) == 1 then return end
    -- The queue has no jobs, so no worker has a lease of one.
    redis.call('UNLINK', P .. 'jobs:pending:index:' .. q)
    local flags = redis.pcall('SMISMEMBER', P .. 'routemaster:paused', q, ':' .. q)
    if flags[1] == 1 or flags[2] == 1 then return end
    redis.pcall('SREM', P .. 'routemaster:queues', q)
    forget_name('routemaster:queues', q)
end
