-- AckJob for several jobs, in order.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, not `main` or `aux`; then for each lease: job, worker,
--       fence, id or 0
-- Parts: ack_job() is the script for one job, as a function of KEYS and ARGV. queue_names() defines
--        functions for the last job of a queue, checks() for a key of another type, throughput()
--        for the first job of a minute.
-- Reply: a list with the reply of ack_job.lua for each job, which may be an error.
local q = ARGV[4]
local ids, records = P .. 'routemaster:ids:' .. q, P .. 'routemaster:job:' .. q
local count = (#ARGV - 4) / 4

-- For each worker: the fences and jobs of its leases, and their indexes in the list of all leases.
local workers, leases_of = {}, {}
for i = 1, count do
    local job, worker = ARGV[4 * i + 1], ARGV[4 * i + 2]
    local leases = leases_of[worker]
    if not leases then
        leases = {fences = {}, jobs = {}, named = {}, places = {}}
        leases_of[worker] = leases
        workers[#workers + 1] = worker
    end
    local at = #leases.jobs + 1
    leases.fences[at], leases.jobs[at] = ARGV[4 * i + 3], job
    leases.named[at], leases.places[at] = ARGV[4 * i + 4], i
end

-- Jobs that only have to be removed are removed together. ack_job() handles all other jobs, and
-- jobs that occur twice. Each key is read here, because a key of a wrong type must stop the script
-- before any change.
local replies, plain = {}, {}
-- Results are cached by record, because jobs that were acquired together mostly have equal records.
local known = {}
local function needs_more(record)
    if not record then return false end
    if known[record] == nil then
        known[record] = string.find(record, 'group', 1, true) ~= nil or
            string.find(record, '\165after', 1, true) ~= nil or
            string.find(record, '\165batch', 1, true) ~= nil
    end
    return known[record]
end
local function look()
    local met, prefix = {}, q .. '\0'
    for _, worker in ipairs(workers) do
        local leases = leases_of[worker]
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        local leased = redis.call('HMGET', P .. 'routemaster:leases:' .. worker,
            unpack(leases.fences))
        local packed = redis.call('HMGET', records, unpack(leases.jobs))
        local own_ids = redis.call('ZMSCORE', ids, unpack(leases.jobs))
        local own = {worker = worker, pending = pending, fences = {}, jobs = {}, places = {}}
        for i, job in ipairs(leases.jobs) do
            local named, own_id = leases.named[i], own_ids[i]
            local has_id = named == own_id or named == '0' or not own_id
            if not leased[i] then
                replies[leases.places[i]] = 0
            elseif leased[i] == prefix .. job and has_id and not met[job] and
                not needs_more(packed[i]) then
                met[job] = true
                local at = #own.jobs + 1
                own.fences[at], own.jobs[at] = leases.fences[i], job
                own.places[at] = leases.places[i]
            end
        end
        -- LREM would search from the tail, where the oldest jobs are. Most of the completed jobs
        -- are near the tail, with some slower jobs in between. The tail is therefore read, and
        -- searched here.
        own.tail = redis.call('LRANGE', pending, -(#own.jobs + 32), -1)
        if #own.jobs > 0 then plain[#plain + 1] = own end
    end
    return redis.call('SCARD', KEYS[1])
end
local done, size = pcall(look)
if not done then
    local expect, expect_queue = checks()
    expect_queue(q)
    for _, worker in ipairs(workers) do
        expect('HLEN', 'routemaster:leases:' .. worker)
        expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
    end
    error(size)
end

-- Removes the jobs found in the tail of a worker's PENDING jobs. One joint removal is faster than
-- many single removals. Returns the remaining jobs.
local function take_of_tail(own)
    local tail, left, found, missing = own.tail, {}, {}, #own.jobs
    for _, job in ipairs(own.jobs) do left[job] = true end
    local first = #tail + 1
    for at = #tail, 1, -1 do
        if left[tail[at]] then
            left[tail[at]], found[at], first = nil, true, at
            missing = missing - 1
            if missing == 0 then break end
        end
    end
    local others = {}
    for at = first, #tail do
        if not found[at] then others[#others + 1] = tail[at] end
    end
    if first <= #tail then redis.call('LTRIM', own.pending, 0, first - #tail - 2) end
    if #others > 0 then redis.call('RPUSH', own.pending, unpack(others)) end
    return left
end

local removed = {}
for _, own in ipairs(plain) do
    local left = take_of_tail(own)
    redis.call('HDEL', P .. 'routemaster:leases:' .. own.worker, unpack(own.fences))
    for i, job in ipairs(own.jobs) do
        local taken = not left[job] or redis.call('LREM', own.pending, -1, job) == 1
        replies[own.places[i]] = taken and 1 or 0
        if taken then removed[#removed + 1] = job end
    end
end
if #removed > 0 then
    redis.call('SREM', KEYS[1], unpack(removed))
    redis.call('HDEL', records, unpack(removed))
    redis.call('ZREM', ids, unpack(removed))
    if size == #removed then select(2, queue_names())(q) end
    local minute, key = math.floor(now / 60000), P .. 'routemaster:throughput:' .. q
    local noted = redis.pcall('HINCRBY', key, 'd' .. string.format('%.0f', minute), #removed)
    if noted == #removed then throughput()(key, minute) end
end

for i = 1, count do
    if not replies[i] then replies[i] = alone(ack_job, 4, 4, i) end
end
return replies
