-- Rate limits. `routemaster:limits` is a hash:
--   {q}   a text of seven numbers: a revision; jobs, time in milliseconds and burst of the queue's
--         limit; and the three numbers of the limit for each group. Zeros mean no limit.
--   {q}:  after a change of the limits, the last member of `routemaster:throttled:{q}` that was
--         moved back; see throttled.lua
--   ""    the last revision
-- `routemaster:paused` also contains a colon and the name of each queue with limits, so that one
-- command finds out both facts.
--
-- A token bucket is `routemaster:bucket:{q}` or `routemaster:bucket:{q}:{group}`. Its text is the
-- revision of its limit and the time at which the bucket is full, in milliseconds and in fractions
-- of 1/jobs of a millisecond. The key expires ten minutes after the bucket is full. `missing` below
-- is the deficit of the bucket. A token is `per` units of the deficit, so the arithmetic is exact;
-- see token_bucket.hpp.

-- A step may arrive up to 1,000 ms late; see token_bucket.hpp.
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

local function open_bucket(q, group, limit, revision)
    local key = P .. 'routemaster:bucket:' .. q .. (group and ':' .. group or '')
    local bucket = {key = key, limit = limit, revision = revision, missing = 0, changed = false}
    local stored = redis.pcall('GET', key)
    local of, full_at, rest = string.match(type(stored) == 'string' and stored or '',
        '^(%d+) (%-?%d+) (%d+)$')
    if tonumber(of) ~= revision then return bucket end
    local missing = (tonumber(full_at) - now) * limit.jobs + tonumber(rest)
    -- In the millisecond in which the bucket becomes full, the deficit is negative. The negative
    -- deficit is retained, because it carries the fraction of the millisecond over. An older
    -- surplus is lost.
    if missing <= -limit.jobs then missing = 0 end
    -- If the clock was set back, the bucket counts as empty, and refills from now on. A late call
    -- is distinguished by its deficit, which exceeds the capacity only a little.
    bucket.changed = missing > limit.most + late_max * limit.jobs
    bucket.missing = bucket.changed and limit.most or missing
    return bucket
end

local function tokens_in(bucket)
    local limit = bucket.limit
    return math.max(math.floor(math.min(limit.most - bucket.missing, limit.most) / limit.per), 0)
end

-- Returns when a bucket next has a token after `taken` of its tokens are taken now.
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
