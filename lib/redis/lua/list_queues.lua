-- ListQueues: lists the queues that have jobs, are paused or have rate limits, by name.
-- KEYS  1 routemaster:queues
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: for each queue: name, queue_status(), due_since() or nil, the text of its limits (see
--        rate_limits.lua) or nil, the number of live workers with a profile that serve the queue,
--        the last heartbeat of a worker of the queue or -1, the number of live workers without a
--        profile; or 0 when the index is outdated.
local function has_jobs(q) return redis.call('EXISTS', P .. 'jobs:index:' .. q) == 1 end

local limits = {}

-- Ruby Routemaster does not add its queues to this set, so `main` and `aux` are added below.
local names = page('routemaster:queues', false, '', function(q)
    if q == 'main' or q == 'aux' then return false end
    local flags = redis.call('SMISMEMBER', P .. 'routemaster:paused', q, ':' .. q)
    if flags[2] == 1 then
        local stored = redis.pcall('HGET', P .. 'routemaster:limits', q)
        if type(stored) == 'string' and not string.find(stored, ' 0 0 0 0 0 0', 1, true) then
            limits[q] = stored
        end
    end
    return limits[q] or flags[1] == 1 or has_jobs(q)
end)
if not names then return 0 end
for _, q in ipairs({'aux', 'main'}) do
    if before(ARGV[4], q) and has_jobs(q) then names[#names + 1] = q end
end
table.sort(names, before)

local listed, unprofiled = {}, unprofiled_workers()
for i = 1, math.min(#names, tonumber(ARGV[5])) do
    local q = names[i]
    local one = queue_status(q)
    table.insert(one, 1, q)
    one[7] = q ~= 'main' and q ~= 'aux' and due_since(q) or false
    one[8] = limits[q] or false
    local serving = P .. 'routemaster:serving:' .. q
    one[9] = tonumber(redis.pcall('ZCOUNT', serving, string.format('(%d', now), '+inf')) or 0
    one[10] = -(tonumber(redis.pcall('ZSCORE', serving, '')) or 1)
    one[11] = unprofiled
    listed[i] = one
end
return listed
