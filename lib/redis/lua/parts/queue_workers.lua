local function unprofiled_workers()
    local unprofiled, workers = 0, redis.pcall('HGETALL', P .. 'workers')
    for i = 1, #workers, 2 do
        local seen = tonumber(workers[i + 1])
        local alive = seen and seen + 10000 > now
        if alive and redis.call('EXISTS', P .. 'routemaster:worker:' .. workers[i]) == 0 then
            unprofiled = unprofiled + 1
        end
    end
    return unprofiled
end

-- Returns the workers of a queue: the number of live workers in the store without a profile; the
-- last heartbeat of a worker of this queue, or -1; the number of live workers beyond the listed
-- ones. Then for each worker, at most 100: its `profile`, `busy` and `busy_since`; see
-- worker_profile.hpp. Damaged keys count as absent.
local function queue_workers(q)
    local serving = P .. 'routemaster:serving:' .. q
    local last = tonumber(redis.pcall('ZSCORE', serving, ''))
    local all = {unprofiled_workers(), last and -last or -1, 0}
    local above = string.format('(%d', now)
    local live = redis.pcall('ZRANGE', serving, above, '+inf', 'BYSCORE', 'LIMIT', 0, 101)
    if #live > 100 then
        all[3] = redis.call('ZCOUNT', serving, above, '+inf') - 100
        live[101] = nil
    end
    for _, worker in ipairs(live) do
        local key = P .. 'routemaster:worker:' .. worker
        local said = redis.pcall('HMGET', key, 'profile', 'busy', 'busy_since')
        if said[1] then
            all[#all + 1] = said[1]
            all[#all + 1] = tonumber(said[2]) or 0
            all[#all + 1] = tonumber(said[3]) or 0
        end
    end
    return all
end
