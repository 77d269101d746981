-- DeliverBatch: makes the delivery job of a queued batch due now.
-- KEYS  1 batches:{uid}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid
-- Effect: a SCHEDULED job becomes READY. The job is blocked if too many batches of its group are
--         before it. A job that another program lost is created again.
-- Reply: 0, or 1 when the batch does not exist, or 2 when its delivery is in progress.
local token, uid = ARGV[4], ARGV[5]
if redis.call('LINDEX', KEYS[1], 0) ~= token then return 1 end
local state = delivery_state(uid)
if state == 2 then return 2 end
expect_batch(token)
local job = delivery_prefix .. uid
if redis.call('SADD', P .. 'jobs:index:main', job) == 1 then
    place('main', job, now)
elseif state == 0 then
    redis.call('ZREM', P .. 'jobs:scheduled:main', job)
    redis.call('ZREM', P .. 'jobs:scheduled:main:callbacks', job)
    place('main', job, now)
end
return 0
