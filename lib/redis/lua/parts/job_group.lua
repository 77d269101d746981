-- Ordering groups of jobs with ids: only the first of a group may be acquired, as many as the last
-- of them asks for. `routemaster:order:{q}:{group}` has those that were READY since they were
-- pushed, kicked or replaced: id of 16 digits, colon, concurrency, in the order in which they
-- joined, by microseconds of when each fell due, and no two alike. `routemaster:held:{q}` has the
-- ids, of 16 digits, of jobs with a group that wait for something: of a READY one that may not be
-- acquired yet, by when it fell due; of a SCHEDULED one at +inf. A group that cannot be read holds
-- nobody back. `routemaster:throttled:{q}` has what is READY and waits for a token of its group.

local function order_of(q, group) return P .. 'routemaster:order:' .. q .. ':' .. group end

local function member_of(id, concurrency) return string.format('%016.0f:%.0f', id, concurrency) end

local function position_of(q, group, concurrency, id)
    return tonumber(redis.pcall('ZSCORE', order_of(q, group), member_of(id, concurrency)) or '')
end

-- What a job stands as in `routemaster:throttled:{q}`, where all have score 0: by their groups, and
-- then by their positions there.
local function throttled_as(group, position, id)
    return group .. '\0' .. string.format('%016.0f%016.0f', position, id)
end

-- What stands there of a group, the first `most`.
local function throttled_in(q, group, most)
    return redis.pcall('ZRANGE', P .. 'routemaster:throttled:' .. q, '[' .. group .. '\0',
        '(' .. group .. '\1', 'BYLEX', 'LIMIT', 0, most)
end

-- Takes away what stands there as `member`. Returns whether it did. With the last of a group goes
-- what is known of when that opens.
local function unthrottle(q, group, member)
    if redis.pcall('ZREM', P .. 'routemaster:throttled:' .. q, member) ~= 1 then return false end
    redis.pcall('ZREM', P .. 'routemaster:throttled_since:' .. q, member)
    if #throttled_in(q, group, 1) == 0 then
        redis.pcall('ZREM', P .. 'routemaster:opens:' .. q, group)
    end
    return true
end

-- How many of the first of a group may be acquired; and the position of the last.
local function width_of(order)
    local last = redis.pcall('ZRANGE', order, -1, -1, 'WITHSCORES')
    return tonumber(string.sub(last[1] or '', 18)), tonumber(last[2])
end

-- Lets a READY job of the queue be acquired. It fell due by a clock that may have been set back.
local function offer_own(q, job, id, at, record)
    local priority = priority_in(record)
    if priority == 0 then
        add_ready(q, job, at)
    else
        offer_ranked(q, id, at, priority)
    end
end

-- Lets a job be acquired that is READY and waits. Its turn begins now: by when it fell due, those
-- of a long group would come before all others.
local function let_in(q, member)
    local held, digits = P .. 'routemaster:held:' .. q, string.sub(member, 1, 16)
    local at = tonumber(redis.call('ZSCORE', held, digits))
    if not at or at == math.huge then return end
    redis.call('ZREM', held, digits)
    local id = tonumber(digits)
    local job = job_of(q, id)
    if job then offer_own(q, job, id, math.max(at, now), record_of(q, job)) end
end

-- Lets a job wait that is READY and does not, unless it is `in_hand`; see leave_by().
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

-- The first `after` of a group may be acquired, and were `before`, the last one perhaps not. The
-- one that just joined has no place in the queue yet.
local function fit(q, order, before, after, in_hand, joined)
    local first, last = math.min(before - 1, after), math.max(before, after) - 1
    local found = redis.pcall('ZRANGE', order, first, last, 'WITHSCORES')
    for i = 1, #found, 2 do
        if found[i] == joined then
            -- Whoever placed it goes on.
        elseif first + (i + 1) / 2 <= after then
            let_in(q, found[i])
        else
            hold_back(q, found[i], tonumber(found[i + 1]), in_hand)
        end
    end
end

-- Puts a job that is due at the end of its group, unless it is there.
local function join_group(q, order, member, at, concurrency)
    if redis.pcall('ZSCORE', order, member) then return end
    local before, last = width_of(order)
    local due = math.min(math.max(at, 0), 9007199254740) * 1000
    redis.pcall('ZADD', order, math.max(due, (last or 0) + 1), member)
    if before and before ~= concurrency then fit(q, order, before, concurrency, {}, member) end
end

-- Makes a job that has no place yet READY or SCHEDULED.
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
        -- While it was SCHEDULED it had one.
        unrank(q, id, record)
        redis.call('ZADD', held, at, digits)
    end
end

-- Takes a READY job away from those that wait for a token. Returns whether it did.
local function stop_throttling(q, id, record)
    local group, concurrency = group_in(record)
    local position = position_of(q, group, concurrency, id)
    return position ~= nil and unthrottle(q, group, throttled_as(group, position, id))
end

-- Whether a READY job waits for others of its group, and so stands in no list.
local function is_held(q, id)
    return redis.call('ZSCORE', P .. 'routemaster:held:' .. q, string.format('%016.0f', id))
end

-- The ids of those of a group that may be acquired, or were, at most `most`, and its concurrency.
local function first_of(q, group, most)
    local order, ids = order_of(q, group), {}
    local concurrency = width_of(order) or 1
    local members = redis.pcall('ZRANGE', order, 0, math.min(concurrency, most) - 1)
    for _, member in ipairs(members) do ids[#ids + 1] = tonumber(string.sub(member, 1, 16)) end
    return ids, concurrency
end

-- Takes a job that is nowhere out of its group, if it has one.
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

-- The same, as its record says. `in_hand` has jobs that stand nowhere, as a worker gets them.
local function leave_by(q, job, in_hand)
    local record = record_of(q, job)
    if group_in(record) then leave_group(q, id_of(q, job), record, in_hand) end
end
