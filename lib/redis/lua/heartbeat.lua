-- Heartbeat: records that a worker is alive.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker
-- Effect: its lease records outlive it by a day, should a Ruby worker take its jobs and
--       forget it.
-- Reply: 1.
expect('HLEN', 'workers', 'routemaster:leases:' .. ARGV[4])
redis.call('HSET', KEYS[1], ARGV[4], now)
redis.call('EXPIRE', P .. 'routemaster:leases:' .. ARGV[4], 86400)
return 1
