-- AckJob: removes a job that was done.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence
-- Reply: 1, or 0 when the lease is lost.
-- Parts: kept_keys() gives what only a job with a key needs, queue_names() what only the last job
--        of a queue needs.
local q, job = held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7])
if not q then return 0 end
local uid = batch_of(q, job)
if uid and subscriber_of(uid) then
    return redis.error_reply('INVALID lease: a delivery is ended by SettleDelivery')
end
local jobs = expect('SCARD', 'jobs:index:' .. ARGV[4])
expect('LLEN', 'jobs:pending:' .. q .. ':' .. ARGV[6])
if has_ids(q) then
    expect('ZCARD', 'routemaster:ids:' .. q)
    expect('HLEN', 'routemaster:job:' .. q)
end
if is_keyed(job) then
    expect('HLEN', 'routemaster:keyed:' .. q, 'routemaster:keys:' .. q, 'counters')
    expect('ZCARD', 'routemaster:kept_keys')
end
if not end_lease(q, job, ARGV[6], ARGV[7]) then return 0 end
if is_keyed(job) then kept_keys()(q, job) end
forget(ARGV[4], job)
if jobs == 1 and has_ids(q) then select(2, queue_names())(q) end
return 1
