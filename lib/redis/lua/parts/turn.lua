-- Turns, the limits of deliveries in a mixed deployment. A turn is a delivery in progress. A mixed
-- deployment has no ordering groups, because jobs cannot be blocked for Ruby workers. Workers of
-- routemaster nevertheless deliver at most `max_in_flight` batches of a subscriber concurrently,
-- oldest batch first. `routemaster:turns:{token}` maps the fence of the lease of each turn to its
-- worker.

-- Returns how many more deliveries to a subscriber may begin. Removes turns whose worker has died
-- or has lost the lease.
local function free_places(token)
    local key = P .. 'routemaster:turns:' .. token
    local free = concurrency_of(token) - redis.call('HLEN', key)
    if free > 0 then return free end
    local turns = redis.call('HGETALL', key)
    for i = 1, #turns, 2 do
        local fence, worker = turns[i], turns[i + 1]
        local seen = tonumber(redis.call('HGET', P .. 'workers', worker)) or 0
        if seen + 30000 <= now or
            redis.call('HEXISTS', P .. 'routemaster:leases:' .. worker, fence) == 0 then
            redis.call('HDEL', key, fence)
            free = free + 1
        end
    end
    return free
end

-- Records a turn when a delivery begins. If the key is unreadable, deliveries are not limited.
local function take_turn(job, fence, worker)
    local uid = batch_of('main', job)
    local token = uid and subscriber_of(uid)
    if not token then return end
    local key = P .. 'routemaster:turns:' .. token
    redis.pcall('HSET', key, fence, worker)
    -- If Ruby processes no longer share the server when the delivery ends, nothing removes the
    -- turn. The key therefore expires.
    redis.call('EXPIRE', key, 86400)
end

-- Sorts the jobs of each subscriber by the creation times of their batches. The positions of a
-- subscriber in the list stay the same. Returns the subscriber at each position.
local function in_order(jobs)
    local token_at, places, began = {}, {}, {}
    for place, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        local head = uid and redis.pcall('LRANGE', P .. 'batches:' .. uid, 0, 1) or {}
        local token = head[1]
        if token then
            token_at[place] = token
            began[job] = {tonumber(head[2]) or 0, place}
            places[token] = places[token] or {}
            table.insert(places[token], place)
        end
    end
    for _, own in pairs(places) do
        local sorted = {}
        for i, place in ipairs(own) do sorted[i] = jobs[place] end
        table.sort(sorted, function(a, b)
            local x, y = began[a], began[b]
            return x[1] < y[1] or (x[1] == y[1] and x[2] < y[2])
        end)
        for i, place in ipairs(own) do jobs[place] = sorted[i] end
    end
    return token_at
end

-- Takes up to `wanted` READY jobs whose subscribers have free turns, from the 1,000 oldest jobs. If
-- too few of 1,000 jobs have a free turn, also takes jobs without a free turn, to reach the jobs
-- behind them. Returns the jobs, and whether more may be available now.
local function take_turns(wanted)
    local instant = P .. 'jobs:instant:main'
    local looked = redis.call('LRANGE', instant, -1000, -1)
    local jobs = {}
    for i = #looked, 1, -1 do jobs[#jobs + 1] = looked[i] end
    local token_at = in_order(jobs)
    local free, taken, left, full = {}, {}, {}, false
    local name_of, called = {}, {}
    for place, job in ipairs(jobs) do
        local token = token_at[place]
        if token and name_of[token] == nil then name_of[token] = callback_of(token) or false end
        if token and not free[token] then
            local read, places = pcall(free_places, token)
            free[token] = read and places or 1
        end
        full = full or #taken == wanted
        if token and name_of[token] then
            called[#called + 1] = {job, token}
        elseif not full and (not token or free[token] > 0) then
            taken[#taken + 1] = job
            if token then free[token] = free[token] - 1 end
        else
            left[#left + 1] = job
        end
    end
    local passed = 0
    if #jobs == 1000 then
        passed = math.min(wanted - #taken, #left)
        for i = 1, passed do taken[#taken + 1] = left[i] end
    end
    if #taken + #called > 0 then
        local back = {}
        for i = #left, passed + 1, -1 do back[#back + 1] = left[i] end
        redis.call('RPOP', instant, #jobs)
        if #back > 0 then redis.call('RPUSH', instant, unpack(back)) end
    end
    -- A process of Ruby Routemaster created these jobs, and treated the callbacks as URLs. The jobs
    -- are moved to their callbacks here.
    for _, one in ipairs(called) do offer('main', one[1], one[2]) end
    return taken, full or #jobs == 1000
end

-- Takes up to `wanted` READY jobs for a callback whose subscribers have free turns, from the 1,000
-- oldest jobs. Returns the jobs.
local function take_called(name, wanted)
    local looked = redis.pcall('LRANGE', callback_key(name), -1000, -1)
    local free, taken = {}, {}
    for i = #looked, 1, -1 do
        local job = looked[i]
        local uid = batch_of('main', job)
        local token = uid and subscriber_of(uid)
        if token and not free[token] then
            local read, places = pcall(free_places, token)
            free[token] = read and places or 1
        end
        if #taken < wanted and (not token or free[token] > 0) and withdraw(job, name) then
            taken[#taken + 1] = job
            if token then free[token] = free[token] - 1 end
        end
    end
    return taken
end
