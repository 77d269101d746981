-- Marks a batch as having an event that no Ruby worker can read, and moves its delivery job away
-- from Ruby workers. A blocked or PENDING job is moved later, when it gets its next place.
-- `has_no_job` says that the batch has no delivery job yet.
local function set_aside(token, uid, has_no_job)
    redis.call('SET', unreadable_key(uid), '1')
    if has_no_job then return end
    local job = delivery_prefix .. uid
    local at = redis.call('ZSCORE', P .. 'jobs:scheduled:main', job)
    if at then
        redis.call('ZREM', P .. 'jobs:scheduled:main', job)
        redis.call('ZADD', P .. 'jobs:scheduled:' .. to_callbacks, at, job)
    elseif not callback_of(token) and withdraw(job) then
        offer('main', job, token)
    end
end
