-- ListJobBatches: lists batches of jobs by id: either the open batches or the ended ones.
-- KEYS  1 routemaster:job_batches, or routemaster:job_batches:ended
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit
-- Reply: `after` of the next page, or 0 when nothing follows, then job_batch_reply() of each batch.
local limit = tonumber(ARGV[5])
local found = redis.call('ZRANGE', KEYS[1], '(' .. ARGV[4], '+inf', 'BYSCORE', 'LIMIT', 0,
    limit + 1)
local reply = {#found > limit and found[limit] or 0}
for i = 1, math.min(#found, limit) do reply[#reply + 1] = job_batch_reply(found[i]) end
return reply
