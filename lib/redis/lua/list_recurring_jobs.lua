-- ListRecurringJobs: lists the recurring jobs, by name.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: recurring_reply() for each job; or 0 when the index is outdated.
local records = {}
local names = page('routemaster:recurring', true, '', function(name)
    records[name] = recurring_of(name)
    return records[name] ~= nil
end)
if not names then return 0 end
local listed = {}
for i, name in ipairs(names) do listed[i] = recurring_reply(name, records[name]) end
return listed
