-- Rate limits in acquisitions. If a READY job is next in order but its group has no token, the job
-- is *throttled*: it is moved from its list to `routemaster:throttled:{q}`.
-- `routemaster:throttled_since:{q}` has the throttled jobs, sorted by due time.
-- `routemaster:opens:{q}` has, for each group with throttled jobs, the time of its next token, when
-- the group *opens*. The first throttled job of an open group precedes all jobs with later due
-- times. The next ones follow while the group has tokens.

local function rates_of(q)
    expect('HLEN', 'routemaster:limits')
    expect('ZCARD', 'routemaster:throttled:' .. q, 'routemaster:throttled_since:' .. q,
        'routemaster:opens:' .. q)
    local throttled, opens = P .. 'routemaster:throttled:' .. q, P .. 'routemaster:opens:' .. q
    local limits = limits_of(q)
    local of_queue = limits.queue and open_bucket(q, nil, limits.queue, limits.revision)
    local of_groups = {}
    local _, _, _, _, _, _, offer_own, position_of, throttled_as, throttled_in,
        unthrottle = job_groups()

    local function bucket_of(group)
        local bucket = of_groups[group] or
            open_bucket(q, group, limits.each_group, limits.revision)
        of_groups[group] = bucket
        return bucket
    end

    -- Removes a member from the throttled jobs. Returns its job and id. The job is nil if it does
    -- not exist any more, because an older version of routemaster, which did not throttle, removed
    -- it.
    local function take_out(member)
        unthrottle(q, string.sub(member, 1, -34), member)
        local id = tonumber(string.sub(member, -16))
        return job_of(q, id), id
    end

    -- After a change of the limits, moves throttled jobs to the end of the READY jobs, at most
    -- `most` in this call.
    local function go_back(most)
        local after = limits.going_back
        local found = redis.call('ZRANGE', throttled, after == '' and '-' or '(' .. after, '+',
            'BYLEX', 'LIMIT', 0, most)
        for _, member in ipairs(found) do
            local job, id = take_out(member)
            if job then offer_own(q, job, id, now, record_of(q, job)) end
        end
        limits.going_back = #found == most and found[most] or nil
        if limits.going_back then
            redis.call('HSET', P .. 'routemaster:limits', q .. ':', limits.going_back)
        else
            redis.call('HDEL', P .. 'routemaster:limits', q .. ':')
        end
    end

    -- Corrects opening times after the clock was set back. No group may open later than the time at
    -- which an empty bucket gets its first token. `late_max` is added as a tolerance for late
    -- callers. Changes at most 1,000 groups; the next acquisition continues.
    local function reopen_late()
        local first = math.ceil(limits.each_group.per / limits.each_group.jobs)
        local latest = now + first + late_max
        local late = redis.call('ZRANGE', opens, '+inf', string.format('(%.0f', latest),
            'BYSCORE', 'REV', 'LIMIT', 0, 1000)
        for _, group in ipairs(late) do
            redis.call('ZADD', opens, next_in(bucket_of(group), 0), group)
        end
    end

    local rates = {take_out = take_out}

    -- Begins an acquisition. At most 1,000 jobs that former limits throttled become READY again.
    function rates.begin()
        if limits.each_group then reopen_late() end
        if limits.going_back then go_back(1000) end
        if limits.queue or limits.each_group or limits.going_back or
            redis.call('EXISTS', throttled) == 1 then
            return
        end
        redis.call('UNLINK', opens)
        redis.call('HDEL', P .. 'routemaster:limits', q)
        redis.call('SREM', P .. 'routemaster:paused', ':' .. q)
        select(2, queue_names())(q)
    end

    -- Returns the first throttled job of the group that opened first, its member among the
    -- throttled jobs, and its rank. Returns nil if no group has opened. The rank is computed from
    -- the due time of the job, or from the opening time of its group if that is earlier. Otherwise
    -- a job that was due before the clock was set back would wait too long. Checks at most 1,000
    -- groups.
    function rates.opened()
        for _ = 1, limits.each_group and 1000 or 0 do
            local group, at = unpack(redis.call('ZRANGE', opens, '-inf', now, 'BYSCORE', 'LIMIT',
                0, 1, 'WITHSCORES'))
            if not group then return nil end
            local bucket, member = bucket_of(group), throttled_in(q, group, 1)[1]
            local job = member and job_of(q, tonumber(string.sub(member, -16)))
            if tokens_in(bucket) == 0 then
                redis.call('ZADD', opens, next_in(bucket, 0), group)
            elseif job then
                local due = math.floor(tonumber(string.sub(member, -32, -17)) / 1000)
                local priority = priority_in(record_of(q, job))
                return job, member, math.min(due, tonumber(at)) - priority * 60000
            elseif member then
                take_out(member)
            else
                redis.call('ZREM', opens, group)
            end
        end
    end

    function rates.room(most)
        return of_queue and math.min(most, tokens_in(of_queue)) or most
    end

    -- Decides which job begins when `job` is next in order. `job` must be in no list. If its group
    -- has throttled jobs, the first of them begins, and `job` is throttled. Otherwise `job` begins.
    -- If the group has no token, `job` is throttled and the result is nil. Returns the job that
    -- begins, its id and its record.
    function rates.in_turn(job, id, record)
        local group, concurrency = group_in(record)
        local position = limits.each_group and group and id and
            position_of(q, group, concurrency, id)
        if not position then return job, id, record end
        local bucket = bucket_of(group)
        local has_token = tokens_in(bucket) > 0
        local first = has_token and throttled_in(q, group, 1)[1]
        if has_token and (not first or position < tonumber(string.sub(first, -32, -17))) then
            return job, id, record
        end
        local member = throttled_as(group, position, id)
        redis.call('ZADD', throttled, 0, member)
        redis.call('ZADD', P .. 'routemaster:throttled_since:' .. q, math.floor(position / 1000),
            member)
        if not has_token then
            redis.call('ZADD', opens, next_in(bucket, 0), group)
            return nil
        end
        -- Opens the group. If the returned job ends without an attempt, the next throttled job of
        -- the group follows.
        redis.call('ZADD', opens, now, group)
        local other, its_id
        repeat
            other, its_id = take_out(throttled_in(q, group, 1)[1])
        until other
        return other, its_id, record_of(q, other)
    end

    -- Consumes a token of the group of a job that begins. A group with throttled jobs opens when it
    -- has another token. The tokens of the queue are consumed together, by rates.take().
    function rates.take_of_group(record)
        local group = limits.each_group and group_in(record)
        if not group then return end
        local bucket = bucket_of(group)
        take_from(bucket, 1)
        redis.call('ZADD', opens, 'XX', next_in(bucket, 0), group)
    end
    function rates.take(count)
        if of_queue then take_from(of_queue, count) end
    end

    function rates.save()
        if of_queue then save_bucket(of_queue) end
        for _, bucket in pairs(of_groups) do save_bucket(bucket) end
    end

    function rates.next() return of_queue and next_in(of_queue, 0) or now end
    -- Returns whether more throttled jobs must be moved back.
    function rates.goes_on() return limits.going_back ~= nil end
    -- Returns when the next group opens or has opened; nil if no group has throttled jobs.
    function rates.opens_at()
        return tonumber(redis.call('ZRANGE', opens, 0, 0, 'WITHSCORES')[2])
    end

    return rates
end
