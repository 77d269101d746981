-- Recurring jobs. `routemaster:recurring` maps a name to MessagePack of [settings, 1 if paused or
-- 0, next_at, settled_until, last_at or false, runs, kept, revision]. The settings are MessagePack
-- of a map. `routemaster:recurring:due` has the names of jobs that are not paused, sorted by
-- next_at. All instants are times of the server's clock, and are not converted to the clocks of
-- callers.

-- Returns the record of a recurring job. Returns nil if it is absent or unreadable.
local function recurring_of(name)
    local packed = redis.call('HGET', P .. 'routemaster:recurring', name)
    local read, record = pcall(cmsgpack.unpack, packed or '')
    if read and type(record) == 'table' and #record == 8 then return record end
end

local function recurring_reply(name, record)
    return {name, unpack(record, 1, 8)}
end

local function expect_recurring()
    expect('HLEN', 'routemaster:recurring')
    expect('ZCARD', 'routemaster:recurring:due')
end

local function keep_recurring(name, record)
    redis.call('HSET', P .. 'routemaster:recurring', name, cmsgpack.pack(record))
    if record[2] == 0 then
        redis.call('ZADD', P .. 'routemaster:recurring:due', record[3], name)
    else
        redis.call('ZREM', P .. 'routemaster:recurring:due', name)
    end
end

-- Wakes the schedulers, which sleep until the next recurring job is due.
local function wake_schedulers()
    redis.call('PUBLISH', P .. 'routemaster:wake', ':recurring')
end
