-- PushJob: puts a job into a queue, once.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 run_at
-- Reply: 1, or 0 for a duplicate.
-- Placed before it enters the index: if placing fails, the job can be pushed again.
if redis.call('SISMEMBER', KEYS[1], ARGV[5]) == 1 then return 0 end
-- Without a group, placing either fails or is the first change.
if batch_of(ARGV[4], ARGV[5]) then
    redis.call('SCARD', P .. 'routemaster:blocked:main')
    redis.call('LLEN', P .. 'jobs:instant:main')
    redis.call('ZCARD', P .. 'jobs:scheduled:main')
    redis.call('ZCARD', P .. 'jobs:scheduled:main:callbacks')
    redis.call('SCARD', P .. 'routemaster:callbacks')
end
place(ARGV[4], ARGV[5], tonumber(ARGV[6]))
redis.call('SADD', KEYS[1], ARGV[5])
return 1
