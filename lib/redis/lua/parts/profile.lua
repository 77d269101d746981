local function profile_key(worker) return P .. 'routemaster:worker:' .. worker end

-- Removes a worker from all queues that its last profile names. If the key of the profile is
-- damaged, no queue is known.
local function stop_serving(worker)
    local queues = redis.pcall('HGET', profile_key(worker), 'queues')
    if type(queues) ~= 'string' then return end
    for q in string.gmatch(queues, '%Z+') do
        redis.pcall('ZREM', P .. 'routemaster:serving:' .. q, worker)
    end
end
