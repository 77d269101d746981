-- All queues of which a worker may have leased jobs.
local function all_queues()
    local queues = redis.call('SMEMBERS', P .. 'routemaster:queues')
    queues[#queues + 1] = 'main'
    queues[#queues + 1] = 'aux'
    queues[#queues + 1] = to_callbacks
    return queues
end

-- Checks all keys of these queues and of these workers' leases, before a step changes any.
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

-- Makes the jobs that a worker leased from these queues READY, or ends those that were cancelled,
-- oldest first, at most `limit`, and forgets the worker once those were all. Their attempts count
-- or not; a job whose last one counts is BURIED. Calls `each(queue, count)` for a queue that got
-- jobs back. Returns the number of jobs, and whether the worker was forgotten.
local function retire(worker, queues, limit, counts, each)
    local total = 0
    for _, q in ipairs(queues) do
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        local count = 0
        while total < limit do
            local job = redis.call('RPOP', pending)
            if not job then break end
            local is_cancelled, record = end_attempt(q, job, counts)
            if is_cancelled then
                cancellations()(q, job)
            elseif record then
                if counts then note_throughput(q, 'f') end
                if counts and used_up(record) then
                    select(3, cancellations())(q, job, record)
                else
                    place_by(q, job, now, record)
                end
            else
                make_ready(q, job, now)
            end
            count = count + 1
            total = total + 1
        end
        if count > 0 then each(q, count) end
        if redis.call('EXISTS', pending) == 1 then return total, false end
        redis.call('SREM', P .. 'jobs:pending:index:' .. q, worker)
    end
    redis.call('DEL', P .. 'routemaster:leases:' .. worker)
    redis.call('HDEL', P .. 'workers', worker)
    forget_name('workers', worker)
    return total, true
end
