-- Removes all data of a job, which must have an id and be in no list. `in_hand`: see job_group.lua.
local function forget(q, job, in_hand)
    select(3, job_groups())(q, job, in_hand)
    redis.call('SREM', P .. 'jobs:index:' .. q, job)
    redis.call('ZREM', P .. 'routemaster:ids:' .. q, job)
    redis.call('HDEL', P .. 'routemaster:job:' .. q, job)
    if not is_keyed(job) then return end
    local keyed = keyed_of(q, job)
    if keyed then release_key(q, job, keyed) end
    redis.call('HDEL', P .. 'routemaster:keyed:' .. q, job)
end
