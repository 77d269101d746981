-- Marks a batch with an event that Ruby workers cannot read, and hides its delivery job from them.
-- A blocked or PENDING job is hidden later, when it is next added to a list. `has_no_job` says that
-- the batch has no delivery job yet.
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
