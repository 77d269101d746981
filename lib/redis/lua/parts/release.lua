-- Unblocks at most `limit` jobs for Ruby workers. The jobs become SCHEDULED, and due at the
-- creation times of their batches. This preserves their order, and Ruby Routemaster makes them
-- READY as well. Returns how many jobs were unblocked.
local function release(limit)
    local jobs = redis.call('SPOP', P .. 'routemaster:blocked:main', limit)
    if #jobs == 0 then return 0 end
    local places, called = {}, {}
    for _, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        local token = uid and subscriber_of(uid)
        local score = token and redis.pcall('ZSCORE', P .. 'routemaster:group:' .. token, uid)
        local to = token and destination_of(token, uid) and called or places
        to[#to + 1] = math.min((tonumber(score) or now * 1000) / 1000, now)
        to[#to + 1] = job
    end
    if #places > 0 then redis.call('ZADD', P .. 'jobs:scheduled:main', unpack(places)) end
    if #called > 0 then redis.call('ZADD', P .. 'jobs:scheduled:main:callbacks', unpack(called)) end
    wake('main', -1)
    wake(to_callbacks, -1)
    return #jobs
end
