-- FindRecurringJob: returns a recurring job.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name
-- Reply: recurring_reply(), or nil.
local record = recurring_of(ARGV[4])
return record and recurring_reply(ARGV[4], record)
