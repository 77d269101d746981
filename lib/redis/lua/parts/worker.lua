-- All queues that a worker may hold jobs of.
local function all_queues()
    local queues = redis.call('SMEMBERS', P .. 'routemaster:queues')
    queues[#queues + 1] = 'main'
    queues[#queues + 1] = 'aux'
    return queues
end

-- Refuses a step before it changes anything of these queues and of what these workers hold.
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

-- Gives back what a worker holds in these queues, oldest first, as READY, at most `limit` jobs, and
-- forgets the worker once that was all. Calls `each(queue, count)` for a queue that got jobs back.
-- Returns how many those were, and whether the worker was forgotten.
local function retire(worker, queues, limit, each)
    local total = 0
    for _, q in ipairs(queues) do
        local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
        local count = 0
        while total < limit do
            local job = redis.call('RPOP', pending)
            if not job then break end
            make_ready(q, job)
            count = count + 1
            total = total + 1
        end
        if count > 0 then each(q, count) end
        if redis.call('EXISTS', pending) == 1 then return total, false end
        redis.call('SREM', P .. 'jobs:pending:index:' .. q, worker)
    end
    redis.call('DEL', P .. 'routemaster:leases:' .. worker)
    redis.call('HDEL', P .. 'workers', worker)
    return total, true
end
