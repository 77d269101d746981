-- Rate limits. `routemaster:limits` has of a queue with limits a text of seven numbers: a revision,
-- then jobs, time in milliseconds and burst of its limit, and the same of that of each of its
-- groups; zeros for none. Such a queue stands in `routemaster:paused`, too, behind a colon, so that
-- one command says of both. The field without a name has the last revision; that of a queue and a
-- colon says behind which of its throttled jobs some go back; see throttled.lua.
--
-- A token bucket is `routemaster:bucket:{q}`, or `routemaster:bucket:{q}:{group}`: the revision of
-- its limit, when it is full, in milliseconds and in parts of a millisecond of which there are as
-- many as jobs. None is kept much longer than until it is full. `missing` below is what it lacks,
-- of which a token is as much as the time of the limit: so all is exact (see token_bucket.hpp).

-- As in token_bucket.hpp.
local late_max = 1000

local function limits_of(q)
    local stored = redis.pcall('HMGET', P .. 'routemaster:limits', q, q .. ':')
    local numbers = {}
    for number in string.gmatch(stored[1] or '', '%d+') do
        numbers[#numbers + 1] = tonumber(number)
    end
    local function limit_at(i)
        local jobs, per, burst = numbers[i], numbers[i + 1], numbers[i + 2]
        if not burst or jobs < 1 or per < 1 then return nil end
        return {jobs = jobs, per = per, most = (burst > 0 and burst or jobs) * per}
    end
    return {revision = numbers[1] or 0, queue = limit_at(2), each_group = limit_at(5),
        going_back = stored[2] or nil}
end

-- The bucket of a queue, or of one of its groups.
local function open_bucket(q, group, limit, revision)
    local key = P .. 'routemaster:bucket:' .. q .. (group and ':' .. group or '')
    local bucket = {key = key, limit = limit, revision = revision, missing = 0, changed = false}
    local stored = redis.pcall('GET', key)
    local of, full_at, rest = string.match(type(stored) == 'string' and stored or '',
        '^(%d+) (%-?%d+) (%d+)$')
    if tonumber(of) ~= revision then return bucket end
    local missing = (tonumber(full_at) - now) * limit.jobs + tonumber(rest)
    -- Who comes in the millisecond in which it became full does not come too late.
    if missing <= -limit.jobs then missing = 0 end
    -- When the clock was set back, it is empty and fills from now on. Who comes late is no such
    -- clock: to that one it lacks more than all.
    bucket.changed = missing > limit.most + late_max * limit.jobs
    bucket.missing = bucket.changed and limit.most or missing
    return bucket
end

local function tokens_in(bucket)
    local limit = bucket.limit
    return math.max(math.floor(math.min(limit.most - bucket.missing, limit.most) / limit.per), 0)
end

-- When a bucket has a token, if `taken` of those that it has are taken now.
local function next_in(bucket, taken)
    local limit = bucket.limit
    local over = bucket.missing + (taken + 1) * limit.per - limit.most
    return over <= 0 and now or now + math.ceil(over / limit.jobs)
end

local function take_from(bucket, count)
    if count == 0 then return end
    bucket.missing, bucket.changed = bucket.missing + count * bucket.limit.per, true
end

local function save_bucket(bucket)
    if not bucket.changed then return end
    local whole = math.floor(bucket.missing / bucket.limit.jobs)
    redis.call('SET', bucket.key, string.format('%.0f %.0f %.0f', bucket.revision, now + whole,
        bucket.missing - whole * bucket.limit.jobs), 'PX', string.format('%.0f', whole + 600000))
end
