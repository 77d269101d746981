-- Ordering groups of jobs with ids. Workers may acquire only the first jobs of a group, as many as
-- its concurrency. The last member sets the concurrency of the whole group.
--   routemaster:order:{q}:{group}  zset: the members, in the order in which they joined. A member
--                                  is an id of 16 digits, colon, concurrency. A job joins when it
--                                  becomes READY for the first time since a push, kick or
--                                  replacement. The score, called position, is its due time in
--                                  microseconds, raised if needed above the last position.
--   routemaster:held:{q}           zset: the ids (16 digits) of waiting jobs with a group. A READY
--                                  job blocked by its group has its due time as the score; a
--                                  SCHEDULED job has +inf.
--   routemaster:throttled:{q}      READY jobs that wait for a token of their group; see
--                                  throttled.lua.
-- If the key of a group is unreadable, its jobs are not blocked.

local function order_of(q, group) return P .. 'routemaster:order:' .. q .. ':' .. group end

local function member_of(id, concurrency) return string.format('%016.0f:%.0f', id, concurrency) end

local function position_of(q, group, concurrency, id)
    return tonumber(redis.pcall('ZSCORE', order_of(q, group), member_of(id, concurrency)) or '')
end

-- Returns the member of a job in `routemaster:throttled:{q}`. All scores are 0 there, so members
-- are sorted as texts: by group, then by position.
local function throttled_as(group, position, id)
    return group .. '\0' .. string.format('%016.0f%016.0f', position, id)
end

local function throttled_in(q, group, most)
    return redis.pcall('ZRANGE', P .. 'routemaster:throttled:' .. q, '[' .. group .. '\0',
        '(' .. group .. '\1', 'BYLEX', 'LIMIT', 0, most)
end

-- Removes a member from the throttled jobs. Returns whether it was there. After the last throttled
-- member of a group, the entry with the group's opening time is removed, too.
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

-- Makes a READY job available to workers. Its due time `at` is later than `now` if the clock was
-- set back.
local function offer_own(q, job, id, at, record)
    local priority = priority_in(record)
    if priority == 0 then
        add_ready(q, job, at)
    else
        offer_ranked(q, id, at, priority)
    end
end

-- Unblocks a READY job that its group had blocked. The job is placed behind other READY jobs, as if
-- due now. With its original due time, the jobs of a long group would overtake all other jobs.
local function let_in(q, member)
    local held, digits = P .. 'routemaster:held:' .. q, string.sub(member, 1, 16)
    local at = tonumber(redis.call('ZSCORE', held, digits))
    if not at or at == math.huge then return end
    redis.call('ZREM', held, digits)
    local id = tonumber(digits)
    local job = job_of(q, id)
    if job then offer_own(q, job, id, math.max(at, now), record_of(q, job)) end
end

-- Blocks a READY job. Does nothing if the job is already blocked, is leased, or is in `in_hand`;
-- see leave_by().
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

-- Adjusts a group after its concurrency changed from `before` to `after`: unblocks the jobs that
-- may now be acquired, and blocks the jobs that no longer may. If a member has just left the group,
-- the last of the first `before` jobs is still blocked. `joined` is a member that has just joined
-- and is in no list yet.
local function fit(q, order, before, after, in_hand, joined)
    local first, last = math.min(before - 1, after), math.max(before, after) - 1
    local found = redis.pcall('ZRANGE', order, first, last, 'WITHSCORES')
    for i = 1, #found, 2 do
        if found[i] == joined then
            -- The caller makes this job available.
        elseif first + (i + 1) / 2 <= after then
            let_in(q, found[i])
        else
            hold_back(q, found[i], tonumber(found[i + 1]), in_hand)
        end
    end
end

-- Appends a due job to its group, unless it already is a member.
local function join_group(q, order, member, at, concurrency)
    if redis.pcall('ZSCORE', order, member) then return end
    local before, last = width_of(order)
    local due = math.min(math.max(at, 0), 9007199254740) * 1000
    redis.pcall('ZADD', order, math.max(due, (last or 0) + 1), member)
    if before and before ~= concurrency then fit(q, order, before, concurrency, {}, member) end
end

-- Makes a job READY or SCHEDULED. The job must be in no list.
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
        -- While SCHEDULED, the job had an entry in `routemaster:ranks:{q}`, which is removed here.
        unrank(q, id, record)
        redis.call('ZADD', held, at, digits)
    end
end

-- Makes a throttled job READY again. Returns false if the job was not throttled.
local function stop_throttling(q, id, record)
    local group, concurrency = group_in(record)
    local position = position_of(q, group, concurrency, id)
    return position ~= nil and unthrottle(q, group, throttled_as(group, position, id))
end

-- Returns whether its group blocks a READY job. The job is then in no list.
local function is_held(q, id)
    return redis.call('ZSCORE', P .. 'routemaster:held:' .. q, string.format('%016.0f', id))
end

-- Returns the ids of up to `most` jobs of a group that may be acquired or are leased. Also returns
-- the concurrency of the group.
local function first_of(q, group, most)
    local order, ids = order_of(q, group), {}
    local concurrency = width_of(order) or 1
    local members = redis.pcall('ZRANGE', order, 0, math.min(concurrency, most) - 1)
    for _, member in ipairs(members) do ids[#ids + 1] = tonumber(string.sub(member, 1, 16)) end
    return ids, concurrency
end

-- Removes a job, which must be in no list, from its group, if any.
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

-- Removes a job from the group that its record names. `in_hand` has the jobs that were popped for a
-- worker, and are in no list until they are leased.
local function leave_by(q, job, in_hand)
    local record = record_of(q, job)
    if group_in(record) then leave_group(q, id_of(q, job), record, in_hand) end
end
