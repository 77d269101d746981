-- Acquisitions from a queue with rate limits. A READY job that comes to its turn while its group
-- has no token is throttled: it stands in `routemaster:throttled:{q}` and in no list.
-- `routemaster:opens:{q}` says when each group with such jobs has its next token; then as many of
-- them as there are tokens go back, the first of the group first.

local function rates_of(q)
    expect('HLEN', 'routemaster:limits')
    expect('ZCARD', 'routemaster:throttled:' .. q, 'routemaster:opens:' .. q)
    local throttled, opens = P .. 'routemaster:throttled:' .. q, P .. 'routemaster:opens:' .. q
    local limits = limits_of(q)
    local of_queue = limits.queue and open_bucket(q, nil, limits.queue, limits.revision)
    local of_groups = {}
    local _, _, _, _, _, _, offer_own, position_of, throttled_as = job_groups()

    local function bucket_of(group)
        local bucket = of_groups[group] or
            open_bucket(q, group, limits.each_group, limits.revision)
        of_groups[group] = bucket
        return bucket
    end

    local function first_in(group, most)
        return redis.call('ZRANGE', throttled, '[' .. group .. '\0', '(' .. group .. '\1',
            'BYLEX', 'LIMIT', 0, most)
    end

    -- Takes one out. Returns its job, unless a version that does not know it ended it, and its id.
    local function take_out(member)
        redis.call('ZREM', throttled, member)
        local id = tonumber(string.sub(member, -16))
        return job_of(q, id), id
    end

    local function let_go(member)
        local job, id = take_out(member)
        if job then offer_own(q, job, id, now, record_of(q, job)) end
    end

    -- The limits changed: all goes back. Returns how many did now.
    local function go_back(most)
        local after = limits.going_back
        local found = redis.call('ZRANGE', throttled, after == '' and '-' or '(' .. after, '+',
            'BYLEX', 'LIMIT', 0, most)
        for _, member in ipairs(found) do let_go(member) end
        limits.going_back = #found == most and found[most] or nil
        if limits.going_back then
            redis.call('HSET', P .. 'routemaster:limits', q .. ':', limits.going_back)
        else
            redis.call('HDEL', P .. 'routemaster:limits', q .. ':')
        end
        return #found
    end

    local rates = {}

    -- Makes READY again what waited for a token, at most 1,000 jobs.
    function rates.open_groups()
        local left = 1000
        if limits.going_back then left = left - go_back(left) end
        local due = {}
        if left > 0 then
            due = redis.call('ZRANGE', opens, '-inf', now, 'BYSCORE', 'LIMIT', 0, left)
        end
        for _, group in ipairs(due) do
            if left == 0 then break end
            local bucket = limits.each_group and bucket_of(group)
            local most = bucket and math.min(tokens_in(bucket), left) or left
            local found = first_in(group, most + 1)
            for i = 1, math.min(most, #found) do let_go(found[i]) end
            if #found > most then
                redis.call('ZADD', opens, bucket and next_in(bucket, most) or now, group)
            else
                redis.call('ZREM', opens, group)
            end
            left = left - math.min(most, #found)
        end
        if limits.queue or limits.each_group or limits.going_back or
            redis.call('EXISTS', throttled) == 1 then
            return
        end
        redis.call('UNLINK', opens)
        redis.call('HDEL', P .. 'routemaster:limits', q)
        redis.call('SREM', P .. 'routemaster:paused', ':' .. q)
        select(2, queue_names())(q)
    end

    -- How many of so many jobs may begin now.
    function rates.room(most)
        return of_queue and math.min(most, tokens_in(of_queue)) or most
    end

    -- The job, with its id and record, that begins in place of one that stands nowhere: the first
    -- of its group that is throttled, or itself. The other one is throttled. Nil when the group has
    -- no token: then the job itself is.
    function rates.in_turn(job, id, record)
        local group, concurrency = group_in(record)
        local position = limits.each_group and group and id and
            position_of(q, group, concurrency, id)
        if not position then return job, id, record end
        local bucket = bucket_of(group)
        local has_token = tokens_in(bucket) > 0
        local first = has_token and first_in(group, 1)[1]
        if has_token and (not first or position < tonumber(string.sub(first, -32, -17))) then
            return job, id, record
        end
        redis.call('ZADD', throttled, 0, throttled_as(group, position, id))
        if not has_token then
            redis.call('ZADD', opens, next_in(bucket, 0), group)
            return nil
        end
        local other, its_id
        repeat
            other, its_id = take_out(first_in(group, 1)[1])
        until other
        return other, its_id, record_of(q, other)
    end

    -- Jobs that begin take their tokens: those of their groups one by one, that of the queue all at
    -- once.
    function rates.take_of_group(record)
        local group = limits.each_group and group_in(record)
        if group then take_from(bucket_of(group), 1) end
    end
    function rates.take(count)
        if of_queue then take_from(of_queue, count) end
    end

    function rates.save()
        if of_queue then save_bucket(of_queue) end
        for _, bucket in pairs(of_groups) do save_bucket(bucket) end
    end

    -- When the queue has a token.
    function rates.next() return of_queue and next_in(of_queue, 0) or now end
    -- Whether more go back at once.
    function rates.goes_on() return limits.going_back ~= nil end
    -- When the next group opens; nil when none is closed.
    function rates.opens_at()
        return tonumber(redis.call('ZRANGE', opens, 0, 0, 'WITHSCORES')[2])
    end

    return rates
end
