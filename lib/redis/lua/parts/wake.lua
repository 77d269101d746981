-- Wakes the idle workers of a queue if a job will be available at `at`, before their next poll.
-- `routemaster:waiting:{q}` is the time of this poll. A worker that got fewer jobs than it wanted
-- sets the key. A wake-up deletes the key. The function never fails: a damaged value counts as
-- infinite, so the workers are woken.
local function wake(q, at)
    local key = P .. 'routemaster:waiting:' .. q
    local waiting = redis.pcall('GET', key)
    if waiting and at < (tonumber(waiting) or math.huge) then
        redis.call('DEL', key)
        redis.call('PUBLISH', P .. 'routemaster:wake', q)
    end
end
