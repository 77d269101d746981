-- RemoveRecurringJob: removes a recurring job.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name
-- Reply: 1, or 0 when the recurring job does not exist.
expect_recurring()
if redis.call('HDEL', KEYS[1], ARGV[4]) == 0 then return 0 end
redis.call('ZREM', P .. 'routemaster:recurring:due', ARGV[4])
forget_name('routemaster:recurring', ARGV[4])
return 1
