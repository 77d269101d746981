-- `routemaster:queues` has all queues with jobs, with rate limits or paused. It has `main` and
-- `aux` once jobs were acquired from there. Never fails.

local function enlist(q)
    if redis.pcall('SADD', P .. 'routemaster:queues', q) == 1 then
        note_name('routemaster:queues', q)
    end
end
