-- Wakes the workers of a queue when a job may be acquired at `at` and all of them would come later
-- by themselves: `routemaster:waiting:{q}` is when. It is set by a worker that got less than it
-- could have taken, and one message ends it. Never fails: what is no instant is long past.
local function wake(q, at)
    local key = P .. 'routemaster:waiting:' .. q
    local waiting = redis.pcall('GET', key)
    if waiting and at < (tonumber(waiting) or math.huge) then
        redis.call('DEL', key)
        redis.call('PUBLISH', P .. 'routemaster:wake', q)
    end
end
