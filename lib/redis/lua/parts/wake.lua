-- Wakes the workers of a queue when a job may be acquired at `at`, before any of them would poll by
-- itself: `routemaster:waiting:{q}` is when. A worker that got fewer jobs than it asked for sets
-- it, and one message clears it. Never fails: a value that is not an instant counts as long past.
local function wake(q, at)
    local key = P .. 'routemaster:waiting:' .. q
    local waiting = redis.pcall('GET', key)
    if waiting and at < (tonumber(waiting) or math.huge) then
        redis.call('DEL', key)
        redis.call('PUBLISH', P .. 'routemaster:wake', q)
    end
end
