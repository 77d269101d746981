-- For check_rollback: counts ordering groups.
-- KEYS  1 subscribers
-- ARGV  1 prefix, 2 now, 3 fleet, 4... tokens
-- Reply: how many of these subscribers have an ordering group.
local groups = {}
for i = 4, #ARGV do groups[i - 3] = P .. 'routemaster:group:' .. ARGV[i] end
return #groups == 0 and 0 or redis.call('EXISTS', unpack(groups))
