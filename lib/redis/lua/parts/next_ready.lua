-- The order of READY jobs in a queue with priorities. A job with a priority is sorted by its rank,
-- a job without by its due time. If both are equal, the job without a priority is first.

-- Returns the due times of the first jobs in the list, at most `most`. Due times are unknown for
-- jobs pushed by an older version of routemaster, which did not write `routemaster:due:{q}`. Then
-- the ids decide: the first job of the list precedes `other`, the first job with a priority, if
-- pushed earlier.
local function dues_of(q, most, other, rank)
    local instant, due = P .. 'jobs:instant:' .. q, P .. 'routemaster:due:' .. q
    local size = redis.call('LLEN', instant)
    if size == 0 then return {} end
    if redis.pcall('LLEN', due) ~= size then
        local older = id_of(q, redis.call('LINDEX', instant, -1)) < tonumber(other)
        return {older and rank or rank + 1}
    end
    local dues, back = {}, redis.call('LRANGE', due, -most, -1)
    for i = #back, 1, -1 do dues[#dues + 1] = tonumber(back[i]) or now end
    return dues
end

-- Returns the rank of the first READY job, or its due time if it has no priority. Returns infinity
-- if there is no job, or if its due time is unknown, because an older version of routemaster pushed
-- it without writing `routemaster:due:{q}`.
local function next_rank(q)
    local instant, due = P .. 'jobs:instant:' .. q, P .. 'routemaster:due:' .. q
    local size, since = redis.call('LLEN', instant), math.huge
    if size > 0 then
        since = redis.pcall('LLEN', due) == size and tonumber(redis.call('LINDEX', due, -1))
        if not since then return math.huge end
    end
    local first = redis.call('ZRANGE', P .. 'routemaster:ranks:' .. q, 0, 0, 'WITHSCORES')[2]
    return math.min(since, tonumber(first) or math.huge)
end

-- Pops up to `most` of the first READY jobs. Returns false if there is none. Returns the jobs, a
-- list of whether each has a rank, and a list of ranks or, if known, of due times. While the list
-- contains `deleted` jobs, at most one job is popped from it, because the due times behind a
-- deleted job cannot be compared. The result may be empty although READY jobs remain.
local function pop_next(q, most, deleted)
    local ranks = P .. 'routemaster:ranks:' .. q
    local first = redis.call('ZRANGE', ranks, '-inf', never, 'BYSCORE', 'LIMIT', 0, most,
        'WITHSCORES')
    if #first == 0 then
        local jobs, dues = pop_ready(q, most)
        return jobs, {}, dues
    end
    local dues = dues_of(q, deleted > 0 and 1 or most, first[1], tonumber(first[2]))
    local listed, ranked, turns = 0, 0, {}
    repeat
        local rank, due = tonumber(first[2 * ranked + 2]), dues[listed + 1]
        if not rank and not due then break end
        local has_rank = rank ~= nil and (not due or rank < due)
        if has_rank then ranked = ranked + 1 else listed = listed + 1 end
        turns[#turns + 1] = has_rank
    until #turns == most or (listed > 0 and listed == #dues)
    local from_list, due_since = {}, {}
    if listed > 0 then from_list, due_since = pop_ready(q, listed) end
    if ranked > 0 then redis.call('ZPOPMIN', ranks, ranked) end
    local jobs, has_rank, places = {}, {}, {}
    listed, ranked = 0, 0
    for _, turn in ipairs(turns) do
        if turn then ranked = ranked + 1 else listed = listed + 1 end
        -- An older version of routemaster, which did not write ranks, may have removed the job but
        -- not its rank. Such a rank is skipped.
        local job = from_list[listed]
        if turn then job = job_of(q, tonumber(first[2 * ranked - 1])) end
        if job then
            local at = #jobs + 1
            jobs[at], has_rank[at] = job, turn
            places[at] = turn and first[2 * ranked] or due_since[listed]
        end
    end
    return jobs, has_rank, places
end

-- Undoes pop_next() for the jobs from index `from` on.
local function return_next(q, jobs, has_rank, places, from)
    for i = #jobs, from, -1 do
        if has_rank[i] then
            redis.call('ZADD', P .. 'routemaster:ranks:' .. q, places[i],
                string.format('%016.0f', id_of(q, jobs[i])))
        else
            redis.call('RPUSH', P .. 'jobs:instant:' .. q, jobs[i])
            if places[i] then redis.pcall('RPUSH', P .. 'routemaster:due:' .. q, places[i]) end
        end
    end
end
