-- The key of the profile of a worker.
local function profile_key(worker) return P .. 'routemaster:worker:' .. worker end

-- The worker serves none of the queues that it named last. A damaged key names none.
local function stop_serving(worker)
    local queues = redis.pcall('HGET', profile_key(worker), 'queues')
    if type(queues) ~= 'string' then return end
    for q in string.gmatch(queues, '%Z+') do
        redis.pcall('ZREM', P .. 'routemaster:serving:' .. q, worker)
    end
end
