-- ListQueues: lists the queues that have jobs or are paused, by name.
-- KEYS  1 routemaster:queues
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: for each its name, queue_status(), and due_since() or nil; or 0 when the index is out of
--        date.
local function has_jobs(q) return redis.call('EXISTS', P .. 'jobs:index:' .. q) == 1 end

-- Ruby Routemaster does not name its queues there.
local names = page('routemaster:queues', false, '', function(q)
    if q == 'main' or q == 'aux' then return false end
    return has_jobs(q) or redis.call('SISMEMBER', P .. 'routemaster:paused', q) == 1
end)
if not names then return 0 end
for _, q in ipairs({'aux', 'main'}) do
    if before(ARGV[4], q) and has_jobs(q) then names[#names + 1] = q end
end
table.sort(names, before)

local listed = {}
for i = 1, math.min(#names, tonumber(ARGV[5])) do
    local q = names[i]
    local one = queue_status(q)
    table.insert(one, 1, q)
    one[7] = q ~= 'main' and q ~= 'aux' and due_since(q) or false
    listed[i] = one
end
return listed
