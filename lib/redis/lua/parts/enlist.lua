-- `routemaster:queues` has all queues with jobs, with rate limits or with a pause. `main` and `aux`
-- are added with their first acquisition. The function never fails.

local function enlist(q)
    if redis.pcall('SADD', P .. 'routemaster:queues', q) == 1 then
        note_name('routemaster:queues', q)
    end
end
