-- ListWorkers: lists workers and their leased jobs, by worker id.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Effect: reads at most 40 leases of each worker.
-- Reply: for each worker: id, last heartbeat, number of leased jobs, profile or nil, busy; then for
--        its first 20 jobs: queue, id, job, attempts, time of the lease or -1, 1 if cancelled, else
--        0; or 0 when the index is outdated.
local shown_max = 20

-- Returns the number of jobs that a routemaster worker has leased, and [queue, job] of the oldest
-- ones.
local function leased_by(worker)
    local leases = P .. 'routemaster:leases:' .. worker
    local total, shown = redis.call('HLEN', leases), {}
    for _, other in ipairs(redis.call('HMGET', leases, 'newest', 'cancelled')) do
        if other then total = total - 1 end
    end
    if total > 2 * shown_max then
        -- Reads three random fields of the worker's leases, because two fields of this hash are not
        -- leases. Normally all jobs of a worker are in one queue, so the first queue found is used.
        local some = redis.call('HRANDFIELD', leases, 3, 'WITHVALUES')
        local q
        for i = 1, #some, 2 do
            if tonumber(some[i]) then q = string.match(some[i + 1], '^(%Z+)%z') end
        end
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        local jobs = redis.call('LRANGE', pending, -shown_max, -1)
        for i = #jobs, 1, -1 do shown[#shown + 1] = {q, jobs[i]} end
        return total, shown
    end
    local all, fences, held = redis.call('HGETALL', leases), {}, {}
    for i = 1, #all, 2 do
        local fence = tonumber(all[i])
        if fence then
            fences[#fences + 1] = fence
            held[fence] = all[i + 1]
        end
    end
    table.sort(fences)
    for i = 1, math.min(#fences, shown_max) do
        shown[i] = {string.match(held[fences[i]], '^(%Z+)%z(.*)$')}
    end
    return total, shown
end

-- Returns the number of jobs of a Ruby worker, and the oldest ones. Ruby workers have no fences.
local function pending_at(worker)
    local total, shown = 0, {}
    for _, q in ipairs({'main', 'aux'}) do
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        total = total + redis.call('LLEN', pending)
        local jobs = redis.call('LRANGE', pending, #shown - shown_max, -1)
        for i = #jobs, 1, -1 do shown[#shown + 1] = {q, jobs[i]} end
    end
    return total, shown
end

local workers = page('workers', true, '', function(worker)
    return #worker == 20 and not string.find(worker, '[^%w_-]')
end)
if not workers then return 0 end
local listed = {}
for i, worker in ipairs(workers) do
    local total, shown = leased_by(worker)
    if total == 0 then total, shown = pending_at(worker) end
    local said = redis.pcall('HMGET', P .. 'routemaster:worker:' .. worker, 'profile', 'busy')
    local one = {worker, tonumber(redis.call('HGET', KEYS[1], worker)) or now, total,
        said[1] or false, tonumber(said[2]) or 0}
    for _, held in ipairs(shown) do
        local q, name = held[1], held[2]
        if q == to_callbacks then q = 'main' end
        local own = has_ids(q)
        local record = own and record_of(q, name)
        local keyed = own and is_keyed(name) and keyed_of(q, name)
        local since = own and record[6] < -2 and -record[6] or -1
        for _, part in ipairs({q, own and id_of(q, name) or 0, keyed and keyed[1] or name,
            own and record[1] or 0, since, own and record[6] == -2 and 1 or 0}) do
            one[#one + 1] = part
        end
    end
    listed[i] = one
end
return listed
