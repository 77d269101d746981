-- DropBatch: drops a queued batch and its delivery job.
-- KEYS  1 batches:{uid}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid
-- Effect: removes the batch from its ordering group, where the next batch becomes eligible.
-- Reply: 0, or 1 when the batch does not exist, or 2 when its delivery is in progress.
local token, uid = ARGV[4], ARGV[5]
if redis.call('LINDEX', KEYS[1], 0) ~= token then return 1 end
expect_batch(token)
local job = delivery_prefix .. uid
if redis.call('SISMEMBER', P .. 'jobs:index:main', job) == 1 and
    not take_out_delivery(job, token) then
    return 2
end
local events = math.max(redis.call('LLEN', KEYS[1]) - 3, 0)
count('events.dropped', token, events)
redis.call('SREM', P .. 'jobs:index:main', job)
remove_batch(uid, token, events)
return 0
