-- CreateJobBatch: creates a batch of jobs.
-- KEYS  1 routemaster:job_batches
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name, 5 on_success or "", 6 on_end or ""
-- Effect: also removes up to two of the batches that ended first: batches beyond 10,000, and
--         batches that ended 30 days ago.
-- Reply: the id of the batch, and 1, or 0 when a batch of that name existed.
expect('ZCARD', batches_open, batches_ended, batch_ends_at)
expect('HLEN', batch_names, 'counters')
local known = tonumber(redis.call('HGET', P .. batch_names, ARGV[4]) or nil)
if known then return {known, 0} end
if redis.call('ZCARD', KEYS[1]) >= 100000 then
    return redis.error_reply(
        'INVALID name: 100000 batches have not ended: close or remove some')
end
local last = tonumber(redis.call('GET', P .. 'routemaster:job_batch_id') or 0)
if last then expect('HLEN', string.format('routemaster:job_batch:%.0f', last + 1)) end
local id = redis.call('INCR', P .. 'routemaster:job_batch_id')
forget_old_batches()
local digits = string.format('%.0f', id)
local key = P .. 'routemaster:job_batch:' .. digits
redis.call('DEL', key)
redis.call('HSET', key, 'name', ARGV[4], 'created_at', now, 'total', 0)
if ARGV[5] ~= '' then redis.call('HSET', key, 'on_success', ARGV[5]) end
if ARGV[6] ~= '' then redis.call('HSET', key, 'on_end', ARGV[6]) end
redis.call('HSET', P .. batch_names, ARGV[4], id)
redis.call('ZADD', KEYS[1], id, digits)
return {id, 1}
