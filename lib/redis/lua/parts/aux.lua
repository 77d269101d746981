-- Jobs of the queue `aux` that Ruby workers cannot run. Such a job would crash a Ruby worker. In a
-- mixed deployment, these jobs are therefore moved to `routemaster:aux`, sorted by due time, where
-- no worker acquires them; see place.lua.

-- Moves jobs that Ruby workers cannot run from `aux` to `routemaster:aux`. Checks 1,000 READY and
-- 1,000 SCHEDULED jobs.
local function set_aux_aside()
    local instant, scheduled = P .. 'jobs:instant:aux', P .. 'jobs:scheduled:aux'
    local aside = {}
    for _, job in ipairs(redis.call('LRANGE', instant, -1000, -1)) do
        if not is_known_to_ruby(job) then
            redis.call('LREM', instant, -1, job)
            aside[#aside + 1], aside[#aside + 2] = now, job
        end
    end
    local waiting = redis.call('ZRANGE', scheduled, 0, 999, 'WITHSCORES')
    for i = 1, #waiting, 2 do
        if not is_known_to_ruby(waiting[i]) then
            redis.call('ZREM', scheduled, waiting[i])
            aside[#aside + 1], aside[#aside + 2] = waiting[i + 1], waiting[i]
        end
    end
    if #aside > 0 then redis.call('ZADD', P .. 'routemaster:aux', unpack(aside)) end
end

-- Moves at most 1,000 jobs back to `aux`.
local function bring_aux_back()
    local aside = redis.call('ZPOPMIN', P .. 'routemaster:aux', 1000)
    for i = 1, #aside, 2 do place('aux', aside[i], tonumber(aside[i + 1])) end
end
