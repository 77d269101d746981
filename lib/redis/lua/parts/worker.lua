-- Returns all queues in which a worker may have leases.
local function all_queues()
    local queues = redis.call('SMEMBERS', P .. 'routemaster:queues')
    queues[#queues + 1] = 'main'
    queues[#queues + 1] = 'aux'
    queues[#queues + 1] = to_callbacks
    return queues
end

-- Checks the types of all keys of these queues and of the leases of these workers, before a step
-- changes any of them.
local function expect_workers(queues, workers)
    for _, q in ipairs(queues) do
        expect_queue(q)
        expect('SCARD', 'jobs:pending:index:' .. q)
        for _, worker in ipairs(workers) do
            expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
        end
    end
    for _, worker in ipairs(workers) do expect('HLEN', 'routemaster:leases:' .. worker) end
end

-- Ends those leases of a worker whose jobs are no longer PENDING. `released[queue][job]` has these
-- jobs, and `left` is their number. The search begins with the oldest leases, because these usually
-- have the jobs.
local function end_leases(worker, released, left)
    local leases, fences = P .. 'routemaster:leases:' .. worker, {}
    for _, field in ipairs(redis.call('HKEYS', leases)) do
        fences[#fences + 1] = tonumber(field)
    end
    table.sort(fences)
    for _, fence in ipairs(fences) do
        if left == 0 then return end
        local leased = redis.call('HGET', leases, fence) or ''
        local q, job = string.match(leased, '^(%Z+)%z(.*)$')
        if q and released[q] and released[q][job] then
            redis.call('HDEL', leases, fence)
            left = left - 1
        end
    end
end

-- Retires a worker. Its leased jobs from these queues become READY, oldest first; cancelled jobs
-- are removed. Stops at `limit` jobs, or when `slice` (job_slice.lua) does not accept the next job
-- with its errors. Removes the worker when no job is left. With `counts`, the attempts count and
-- leave an error; a job without attempts left becomes BURIED, and its queue and id are appended to
-- `all_buried`. Calls `each(queue, count)` for each queue with released jobs. Returns the number of
-- jobs, and whether the worker was removed.
local function retire(worker, queues, limit, slice, counts, each, all_buried)
    local total, released = 0, {}
    for _, q in ipairs(queues) do
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        local count = 0
        released[q] = {}
        while total < limit do
            local job = redis.call('RPOP', pending)
            if not job then break end
            local known = has_ids(q) and record_of(q, job) or nil
            local size = size_with_errors(q, job, known or {})
            if not slice.fits(size) then
                redis.call('RPUSH', pending, job)
                break
            end
            slice.add(size)
            released[q][job] = true
            if known and counts and known[6] ~= -2 then
                select(4, cancellations())(known, unreported)
            end
            local is_cancelled, record = end_attempt(q, job, counts, known)
            if is_cancelled then
                cancellations()(q, job)
            elseif record then
                if counts then note_throughput(q, 'f') end
                if counts and used_up(record) then
                    all_buried[#all_buried + 1] = q
                    all_buried[#all_buried + 1] = id_of(q, job)
                    select(5, cancellations())(q, job, record)
                else
                    place_by(q, job, counts and now + wait_after_death(record) or now, record)
                end
            else
                make_ready(q, job, now)
            end
            count = count + 1
            total = total + 1
        end
        if count > 0 then each(q, count) end
        if redis.call('EXISTS', pending) == 1 then
            end_leases(worker, released, total)
            return total, false
        end
        redis.call('SREM', P .. 'jobs:pending:index:' .. q, worker)
    end
    redis.call('DEL', P .. 'routemaster:leases:' .. worker)
    stop_serving(worker)
    redis.call('DEL', profile_key(worker))
    redis.call('HDEL', P .. 'workers', worker)
    redis.call('HDEL', P .. 'routemaster:scrubbed', worker)
    forget_name('workers', worker)
    return total, true
end
