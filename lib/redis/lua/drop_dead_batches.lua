-- DropDeadBatches: drops DEAD batches.
-- KEYS  1 routemaster:dead:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid or "" for all, 6 limit
-- Reply: batches dropped, events dropped.
local asked = dead_asked(ARGV[4], ARGV[5], tonumber(ARGV[6]))
expect_dead(ARGV[4])
local events = 0
for _, uid in ipairs(asked) do events = events + drop_dead(uid, ARGV[4]) end
return {#asked, events}
