-- FindSubscriber: returns one subscriber.
-- KEYS  1 subscribers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token
-- Reply: status_of(), or nil.
if redis.call('SISMEMBER', KEYS[1], ARGV[4]) == 0 then return nil end
return status_of(ARGV[4])
