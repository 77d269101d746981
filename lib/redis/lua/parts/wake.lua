-- Wakes the idle workers of a queue when a job may be acquired at `at`, before their next poll.
-- `routemaster:waiting:{q}` is the time of this poll. A worker that got fewer jobs than it wanted
-- sets the key; the wake-up deletes the key. Never fails: a value that is no instant counts as
-- infinite, and the workers are woken.
local function wake(q, at)
    local key = P .. 'routemaster:waiting:' .. q
    local waiting = redis.pcall('GET', key)
    if waiting and at < (tonumber(waiting) or math.huge) then
        redis.call('DEL', key)
        redis.call('PUBLISH', P .. 'routemaster:wake', q)
    end
end
