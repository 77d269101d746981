-- ListCounters: tells all counters.
-- KEYS  1 counters
-- ARGV  1 prefix, 2 now, 3 mixed
-- Reply: field, value, and so on.
return redis.call('HGETALL', KEYS[1])
