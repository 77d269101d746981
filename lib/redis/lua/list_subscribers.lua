-- ListSubscribers: lists the subscribers, by token.
-- KEYS  1 subscribers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: status_of() for each subscriber; or 0 when the index is outdated.
local names = page('subscribers', false)
if not names then return 0 end
local listed = {}
for i, token in ipairs(names) do listed[i] = status_of(token) end
return listed
