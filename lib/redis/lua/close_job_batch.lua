-- CloseJobBatch: closes a batch of jobs. A closed batch ends when its last job ends.
-- KEYS  1 routemaster:job_batches
-- ARGV  1 prefix, 2 now, 3 fleet, 4 id
-- Effect: ends the batch at once if all its jobs have ended.
-- Reply: 1, or 0 when the batch does not exist.
local id = tonumber(ARGV[4])
local key = batch_key(id)
expect('HLEN', string.sub(key, #P + 1), 'counters', batch_names)
expect('ZCARD', batches_open, batches_ended, batch_ends_at)
if redis.call('EXISTS', key) == 0 then return 0 end
redis.call('HSETNX', key, 'closed_at', now)
ARGV.batches = {[id] = true}
settle_batches()
return 1
