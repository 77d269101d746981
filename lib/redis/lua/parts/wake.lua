-- Wakes the workers of a queue when a job may be acquired at `at` and all of them would come later
-- by themselves: `routemaster:waiting:{q}` is when. It is set by a worker that got less than it
-- could have taken, and one message ends it.
local function wake(q, at)
    local waiting = redis.call('GET', P .. 'routemaster:waiting:' .. q)
    if waiting and at < tonumber(waiting) then
        redis.call('DEL', P .. 'routemaster:waiting:' .. q)
        redis.call('PUBLISH', P .. 'routemaster:wake', q)
    end
end
