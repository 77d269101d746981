-- Ordering groups of deliveries: workers may acquire only the first `max_in_flight` delivery jobs
-- of a subscriber. `routemaster:group:{token}` has its batches in the order of their creation. The
-- remaining READY delivery jobs are *blocked*, in `routemaster:blocked:main`. See
-- group_concurrency.lua.

-- Unblocks the job of a subscriber. Returns whether the job was blocked.
local function let_in(job, token)
    if redis.call('SREM', P .. 'routemaster:blocked:main', job) == 0 then return false end
    offer('main', job, token)
    return true
end

-- Unblocks the jobs from index `first` to index `last` of a group.
local function make_eligible(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:group:' .. token, first, last)) do
        let_in(delivery_prefix .. uid, token)
    end
end

-- Removes batches that another program has removed from the first entries of a group, and unblocks
-- the batches that move up. Checks at most 1,000 batches. Returns false if more such batches may
-- follow.
local function tidy(token)
    local function gone_of(uids)
        local keys = {}
        for i, uid in ipairs(uids) do keys[i] = P .. 'batches:' .. uid end
        local present = #keys == 0 and 0 or redis.call('EXISTS', unpack(keys))
        if present == #keys then return {} end
        if present == 0 then return uids end
        local gone = {}
        for i, key in ipairs(keys) do
            if redis.call('EXISTS', key) == 0 then gone[#gone + 1] = uids[i] end
        end
        return gone
    end

    local group = P .. 'routemaster:group:' .. token
    local concurrency = concurrency_of(token)
    local enough = math.min(concurrency, 100)
    local places, looked, removed, done = enough, 0, 0, false
    while places > 0 and not done do
        local first = redis.call('ZRANGE', group, 0, places - 1)
        local gone = gone_of(first)
        if #gone > 0 then removed = removed + redis.call('ZREM', group, unpack(gone)) end
        done = #first - #gone >= enough or #first < places
        looked = looked + #first
        places = 1000 - looked
    end
    if removed > 0 then make_eligible(token, 0, concurrency - 1) end
    return done
end

-- Calls tidy(). If batches remain to be checked, makes the next acquisition continue.
local function begin_to_tidy(token)
    if tidy(token) then return end
    redis.pcall('SADD', P .. 'routemaster:untidy', token)
    wake('main', -1)
end

-- Returns whether a batch is among the first of its group, and whether further batches may have
-- been unblocked. A batch that another program created is added to the group here, sorted by its
-- creation time.
local function among_first(token, uid, concurrency)
    local group = P .. 'routemaster:group:' .. token
    concurrency = concurrency or concurrency_of(token)
    local place = redis.call('ZRANK', group, uid)
    if not place then
        local began = tonumber(redis.call('LINDEX', P .. 'batches:' .. uid, 1)) or now
        redis.call('ZADD', group, began * 1000, uid)
        place = redis.call('ZRANK', group, uid)
    end
    if place < concurrency then return true, false end
    begin_to_tidy(token)
    return redis.call('ZRANK', group, uid) < concurrency, true
end

-- Returns whether the job of a batch may be acquired, and whether further batches may have been
-- unblocked. `concurrency` is the concurrency of the group, if known. If the group is unreadable,
-- the job is not blocked, and its worker gets the error when it begins the delivery.
local function may_run(token, uid, concurrency)
    if mixed then return true, false end
    local read, first, others = pcall(among_first, token, uid, concurrency)
    return first or not read, others or not read
end
