-- How many live workers have no profile.
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

-- The workers of a queue: how many live workers of the store have no profile, when a worker of the
-- queue was last heard of or -1, how many live ones follow no more; then of each, 100 at most, its
-- profile, how busy it is, and since when. Damaged keys count as absent.
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
