-- For check_rollback: counts the data that is hidden from Ruby processes.
-- KEYS  1 routemaster:blocked:main
-- ARGV  1 prefix, 2 now, 3 fleet
-- Reply: the numbers of blocked jobs; of deliveries to callbacks and of batches that no Ruby worker
--        can read; of DEAD batches; of jobs of `aux` that were set aside.
local called = redis.call('SCARD', P .. 'routemaster:callbacks') +
    redis.call('ZCARD', P .. 'jobs:scheduled:main:callbacks')
for _, worker in ipairs(redis.call('SMEMBERS', P .. 'jobs:pending:index:main:callbacks')) do
    called = called + redis.call('LLEN', P .. 'jobs:pending:main:callbacks:' .. worker)
end
return {redis.call('SCARD', KEYS[1]), called, redis.call('ZCARD', P .. 'routemaster:dead'),
    redis.call('ZCARD', P .. 'routemaster:aux')}
