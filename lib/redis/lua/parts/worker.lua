-- Gives back what a worker holds in any queue, oldest first, as READY, and forgets the worker.
-- Calls `each(queue, count)` for a queue that got jobs back; returns how many those were.
local function retire(worker, each)
    local total = 0
    local queues = redis.call('SMEMBERS', P .. 'routemaster:queues')
    queues[#queues + 1] = 'main'
    queues[#queues + 1] = 'aux'
    for _, q in ipairs(queues) do
        local count = 0
        local job = redis.call('RPOP', P .. 'jobs:pending:' .. q .. ':' .. worker)
        while job do
            make_ready(q, job)
            count = count + 1
            job = redis.call('RPOP', P .. 'jobs:pending:' .. q .. ':' .. worker)
        end
        redis.call('SREM', P .. 'jobs:pending:index:' .. q, worker)
        if count > 0 then each(q, count) end
        total = total + count
    end
    redis.call('DEL', P .. 'routemaster:leases:' .. worker)
    redis.call('HDEL', P .. 'workers', worker)
    return total
end
