-- Ordering groups of jobs with ids. Workers may acquire only the first jobs of a group, as many as
-- its concurrency. The last member sets the concurrency of the whole group.
--   routemaster:order:{q}:{group}  zset: the members, in the order in which they joined. A member
--                                  is an id of 16 digits, colon, concurrency. A job joins when it
--                                  becomes READY for the first time since a push, kick or
--                                  replacement. The score, called position, is its due time in
--                                  microseconds, raised if needed above the last position.
--   routemaster:held:{q}           zset: the ids (16 digits) of waiting jobs with a group. A READY
--                                  job kept back by its group has its due time as the score; a
--                                  SCHEDULED job has +inf.
--   routemaster:throttled:{q}      READY jobs that wait for a token of their group; see
--                                  throttled.lua.
-- A group whose key is unreadable keeps no job back.

local function order_of(q, group) return P .. 'routemaster:order:' .. q .. ':' .. group end

local function member_of(id, concurrency) return string.format('%016.0f:%.0f', id, concurrency) end

local function position_of(q, group, concurrency, id)
    return tonumber(redis.pcall('ZSCORE', order_of(q, group), member_of(id, concurrency)) or '')
end

-- Returns the member of a job in `routemaster:throttled:{q}`. All scores are 0 there, so the
-- members are sorted by group, then by position.
local function throttled_as(group, position, id)
    return group .. '\0' .. string.format('%016.0f%016.0f', position, id)
end

local function throttled_in(q, group, most)
    return redis.pcall('ZRANGE', P .. 'routemaster:throttled:' .. q, '[' .. group .. '\0',
        '(' .. group .. '\1', 'BYLEX', 'LIMIT', 0, most)
end

-- Removes a throttled member. Returns whether the member was there. With the last member of a
-- group, the time at which the group opens is removed, too.
local function unthrottle(q, group, member)
    if redis.pcall('ZREM', P .. 'routemaster:throttled:' .. q, member) ~= 1 then return false end
    redis.pcall('ZREM', P .. 'routemaster:throttled_since:' .. q, member)
    if #throttled_in(q, group, 1) == 0 then
        redis.pcall('ZREM', P .. 'routemaster:opens:' .. q, group)
    end
    return true
end

-- Returns the concurrency of a group, and the position of its last member.
local function width_of(order)
    local last = redis.pcall('ZRANGE', order, -1, -1, 'WITHSCORES')
    return tonumber(string.sub(last[1] or '', 18)), tonumber(last[2])
end

-- Lets a READY job of the queue be acquired. Its due time `at` is later than `now` if the clock was
-- set back.
local function offer_own(q, job, id, at, record)
    local priority = priority_in(record)
    if priority == 0 then
        add_ready(q, job, at)
    else
        offer_ranked(q, id, at, priority)
    end
end

-- Lets a READY job be acquired that its group kept back. The job queues behind other READY jobs, as
-- if due now. With their own due times, the jobs of a long group would overtake all other jobs.
local function let_in(q, member)
    local held, digits = P .. 'routemaster:held:' .. q, string.sub(member, 1, 16)
    local at = tonumber(redis.call('ZSCORE', held, digits))
    if not at or at == math.huge then return end
    redis.call('ZREM', held, digits)
    local id = tonumber(digits)
    local job = job_of(q, id)
    if job then offer_own(q, job, id, math.max(at, now), record_of(q, job)) end
end

-- Keeps a READY job back. Does nothing for a job already kept back, leased by a worker or
-- `in_hand`; see leave_by().
local function hold_back(q, member, position, in_hand)
    local held, digits = P .. 'routemaster:held:' .. q, string.sub(member, 1, 16)
    if redis.call('ZSCORE', held, digits) then return end
    local id = tonumber(digits)
    local job = job_of(q, id)
    if not job or in_hand[job] then return end
    local record = record_of(q, job)
    if record[2] ~= '' then return end
    local group = group_in(record)
    if not unthrottle(q, group, throttled_as(group, position, id)) then
        if priority_in(record) == 0 then note_deleted(q, job) else unrank(q, id, record) end
    end
    redis.call('ZADD', held, math.floor(position / 1000), digits)
end

-- Adapts a group after its concurrency changed from `before` to `after`: lets in the jobs that may
-- be acquired now, and keeps back the jobs that no longer may. When a member has just left, the
-- last of the first `before` jobs has not been let in yet. `joined` is a member that has just
-- joined and has no place in the queue yet.
local function fit(q, order, before, after, in_hand, joined)
    local first, last = math.min(before - 1, after), math.max(before, after) - 1
    local found = redis.pcall('ZRANGE', order, first, last, 'WITHSCORES')
    for i = 1, #found, 2 do
        if found[i] == joined then
            -- The caller places this job.
        elseif first + (i + 1) / 2 <= after then
            let_in(q, found[i])
        else
            hold_back(q, found[i], tonumber(found[i + 1]), in_hand)
        end
    end
end

-- Appends a due job to its group, unless the job is a member already.
local function join_group(q, order, member, at, concurrency)
    if redis.pcall('ZSCORE', order, member) then return end
    local before, last = width_of(order)
    local due = math.min(math.max(at, 0), 9007199254740) * 1000
    redis.pcall('ZADD', order, math.max(due, (last or 0) + 1), member)
    if before and before ~= concurrency then fit(q, order, before, concurrency, {}, member) end
end

-- Makes a job READY or SCHEDULED. The job has no place yet.
local function place_grouped(q, job, at, record, group, concurrency)
    local id = id_of(q, job)
    local held, digits = P .. 'routemaster:held:' .. q, string.format('%016.0f', id)
    if at > now then
        redis.call('ZADD', held, '+inf', digits)
        local priority = priority_in(record)
        if priority == 0 then
            add_scheduled(q, job, at)
        else
            place_ranked(q, job, id, at, priority)
        end
        return
    end
    local order, member = order_of(q, group), member_of(id, concurrency)
    join_group(q, order, member, at, concurrency)
    local place = redis.pcall('ZRANK', order, member)
    if type(place) ~= 'number' or place < (width_of(order) or 1) then
        redis.call('ZREM', held, digits)
        offer_own(q, job, id, at, record)
    else
        -- A job that was SCHEDULED had a rank.
        unrank(q, id, record)
        redis.call('ZADD', held, at, digits)
    end
end

-- Returns whether the job was throttled.
local function stop_throttling(q, id, record)
    local group, concurrency = group_in(record)
    local position = position_of(q, group, concurrency, id)
    return position ~= nil and unthrottle(q, group, throttled_as(group, position, id))
end

-- Returns whether a group keeps a READY job back. Then the job stands in no list.
local function is_held(q, id)
    return redis.call('ZSCORE', P .. 'routemaster:held:' .. q, string.format('%016.0f', id))
end

-- Returns the ids of the jobs in a group that may be acquired, or were, at most `most`. Also
-- returns the concurrency of the group.
local function first_of(q, group, most)
    local order, ids = order_of(q, group), {}
    local concurrency = width_of(order) or 1
    local members = redis.pcall('ZRANGE', order, 0, math.min(concurrency, most) - 1)
    for _, member in ipairs(members) do ids[#ids + 1] = tonumber(string.sub(member, 1, 16)) end
    return ids, concurrency
end

-- Removes a job, which stands in no list, from its group, if any.
local function leave_group(q, id, record, in_hand)
    local group, concurrency = group_in(record)
    if not group then return end
    redis.call('ZREM', P .. 'routemaster:held:' .. q, string.format('%016.0f', id))
    local order = order_of(q, group)
    local before = width_of(order)
    if redis.pcall('ZREM', order, member_of(id, concurrency)) ~= 1 then return end
    local after = width_of(order)
    if after then fit(q, order, before, after, in_hand or {}) end
end

-- Removes a job from the group named in its record. `in_hand` has the popped jobs, which stand in
-- no list while a worker gets them.
local function leave_by(q, job, in_hand)
    local record = record_of(q, job)
    if group_in(record) then leave_group(q, id_of(q, job), record, in_hand) end
end
