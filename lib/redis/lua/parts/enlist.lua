-- The names of queues: `routemaster:queues` has those that have jobs, are paused or have rate
-- limits; and those of Ruby Routemaster that jobs were acquired from. Never fails.

-- Adds a queue that may be new.
local function enlist(q)
    if redis.pcall('SADD', P .. 'routemaster:queues', q) == 1 then
        note_name('routemaster:queues', q)
    end
end
