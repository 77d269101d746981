-- Removes what is known of a job that is nowhere. `in_hand`: see job_group.lua.
local function forget(q, job, in_hand)
    if has_ids(q) then select(3, job_groups())(q, job, in_hand) end
    redis.call('SREM', P .. 'jobs:index:' .. q, job)
    if not has_ids(q) then return end
    redis.call('ZREM', P .. 'routemaster:ids:' .. q, job)
    redis.call('HDEL', P .. 'routemaster:job:' .. q, job)
    if not is_keyed(job) then return end
    local keyed = keyed_of(q, job)
    if keyed then release_key(q, job, keyed) end
    redis.call('HDEL', P .. 'routemaster:keyed:' .. q, job)
end
