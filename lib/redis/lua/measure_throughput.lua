-- MeasureThroughput: returns the throughput of a queue.
-- KEYS  1 routemaster:throughput:{q}
-- ARGV  1 prefix, 2 now, 3 fleet
-- Reply: now, then each field of the key and its number; see throughput.lua.
return {now, unpack(redis.call('HGETALL', KEYS[1]))}
