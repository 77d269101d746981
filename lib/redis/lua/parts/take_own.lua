-- Acquires jobs that have ids.

-- Gives an id to a job that was pushed by a version without ids.
local function adopt(q, job)
    local id = redis.pcall('INCR', P .. 'routemaster:job_id')
    if type(id) ~= 'number' then return 0 end
    redis.call('ZADD', P .. 'routemaster:ids:' .. q, id, job)
    return id
end

local function has_expired(record) return record[1] == 0 and record[5] <= now end
local function is_unfit(record) return has_expired(record) or used_up(record) end

-- Pops up to `most` READY jobs that may be begun, with their ids and records. Those that have
-- expired are dropped, those whose attempts are used up BURIED, and those that were deleted passed
-- over: some 1,000 in all. What is left begins with a job that was not deleted. `has_ranks` says
-- whether some may have a priority, `rates`, of throttled.lua, which have to wait for a token,
-- `slice`, of job_slice.lua, when they are too large, and `ends` when those that end are.
local function take_own(q, most, has_ranks, rates, slice, ends)
    -- Whether this step may end it, if it must end.
    local function may_end(job, record)
        return not is_unfit(record) or ends.fits(size_with_errors(q, job, record))
    end

    local deleted = deleted_in(q)
    local taken, ended, in_hand = {}, 0, {}
    while #taken < most and ended < 1000 and not slice.full and not ends.full do
        local jobs, has_rank, places = nil, {}, nil
        local wanted = slice.next(math.min(most - #taken, 1000))
        if has_ranks then
            local popped = pop_deleted(q, deleted)
            deleted, ended = deleted - popped, ended + popped
            local opened, member, rank
            if rates then opened, member, rank = rates.opened() end
            if opened and rank < next_rank(q) then
                if not slice.fits(size_of(q, opened)) then break end
                if not may_end(opened, record_of(q, opened)) then break end
                rates.take_out(member)
                jobs, has_rank = {opened}, {true}
            else
                -- When one of them begins, or ends, it may be the turn of a throttled one.
                local one = opened or (rates and rates.goes_on())
                jobs, has_rank, places = pop_next(q, one and 1 or wanted, deleted)
            end
        else
            jobs, places = pop_ready(q, wanted)
        end
        if not jobs then break end
        -- Their ranks were all that was left of them.
        if #jobs == 0 then ended = ended + 1 end
        local packed = #jobs > 0 and
            redis.call('HMGET', P .. 'routemaster:job:' .. q, unpack(jobs))
        local ids = #jobs > 0 and redis.call('ZMSCORE', P .. 'routemaster:ids:' .. q, unpack(jobs))
        for i, job in ipairs(jobs) do
            local id, record = tonumber(ids[i]), record_in(packed[i])
            if ends.full or not slice.fits(size_of(q, job)) or not may_end(job, record) then
                return_next(q, jobs, has_rank, places, i)
                break
            end
            if deleted > 0 and not has_rank[i] and was_deleted(q, job) then
                deleted = deleted - 1
                ended = ended + 1
                job = nil
            elseif rates then
                job, id, record = rates.in_turn(job, id, record)
                if not job then ended = ended + 1 end
            end
            if job and is_unfit(record) then
                ends.add(size_with_errors(q, job, record))
                -- Its end may let another of its group in, or keep others from being next.
                local is_grouped = group_in(record) ~= nil
                if is_grouped then return_next(q, jobs, has_rank, places, i + 1) end
                if has_expired(record) then
                    leave_batch(record, 'expired')
                    note_throughput(q, 'e')
                    forget(q, job, in_hand)
                    count('jobs.expired', q, 1)
                    ended = ended + bury_dependents(q, id or 0, 'has expired')
                else
                    ended = ended + bury_unreported(q, job, record, in_hand)
                end
                ended = ended + 1
                if is_grouped then
                    deleted = deleted_in(q)
                    break
                end
            elseif job then
                id = id or adopt(q, job)
                -- A version before ranks may have put it into the list.
                if not has_rank[i] then unrank(q, id, record) end
                if rates then rates.take_of_group(record) end
                taken[#taken + 1] = {job, id, record}
                slice.add(size_of(q, job))
                in_hand[job] = true
            end
        end
    end
    pop_deleted(q, deleted)
    if ended > 0 and #taken == 0 then select(2, queue_names())(q) end
    return taken
end

-- A job as it was pushed.
local function pushed_as(q, job)
    local keyed = is_keyed(job) and keyed_of(q, job)
    return keyed and keyed[1] or job
end

-- Counts an attempt of each, by a worker. Returns the jobs.
local function begin_attempts(q, taken, worker)
    local fields, jobs = {}, {}
    for i, one in ipairs(taken) do
        local record = one[3]
        record[1], record[2] = record[1] + 1, worker
        if record[6] ~= -2 then record[6] = -now end
        jobs[i] = one[1]
        local keyed = is_keyed(one[1]) and keyed_of(q, one[1])
        if keyed and keyed[3] == 1 then release_key(q, one[1], keyed) end
        fields[2 * i - 1], fields[2 * i] = one[1], cmsgpack.pack(record)
    end
    if #jobs > 0 then redis.call('HSET', P .. 'routemaster:job:' .. q, unpack(fields)) end
    return jobs
end
