-- Heartbeat: records that a worker is alive.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker; and if the worker has a profile 5 that, 6 its queues,
--       each with a NUL behind it, 7 how busy it is, 8 since when, 9 how long it counts as alive
-- Effect: its lease records outlive it by a day, should a Ruby worker take its jobs and
--       forget it. Its profile is kept for three days, the workers of a queue for a week: by when
--       each counts as dead, and, without a name, minus the last sign of life of any.
-- Reply: the fences of its jobs that were cancelled.
local leases = 'routemaster:leases:' .. ARGV[4]
expect('HLEN', 'workers', leases)
leases = P .. leases
if redis.call('HSET', KEYS[1], ARGV[4], now) == 1 then note_name('workers', ARGV[4]) end
redis.call('EXPIRE', leases, 86400)

if ARGV[5] then
    local key, queues = profile_key(ARGV[4]), ARGV[6]
    local before = redis.pcall('HGET', key, 'queues')
    if type(before) == 'table' then redis.call('DEL', key) end
    if before ~= queues then stop_serving(ARGV[4]) end
    redis.call('HSET', key, 'profile', ARGV[5], 'queues', queues, 'busy', ARGV[7], 'busy_since',
        ARGV[8])
    redis.call('EXPIRE', key, 259200)
    for q in string.gmatch(queues, '%Z+') do
        local serving = P .. 'routemaster:serving:' .. q
        redis.pcall('ZREMRANGEBYSCORE', serving, '(0', string.format('%d', now))
        redis.pcall('ZADD', serving, now + tonumber(ARGV[9]), ARGV[4], -now, '')
        redis.pcall('EXPIRE', serving, 604800)
    end
end

local asked = redis.call('HGET', leases, 'cancelled')
if not asked then return {} end
local fences = {}
for fence in string.gmatch(asked, '%d+') do
    if redis.call('HEXISTS', leases, fence) == 1 then fences[#fences + 1] = tonumber(fence) end
end
table.sort(fences)
if #fences == 0 then
    redis.call('HDEL', leases, 'cancelled')
else
    redis.call('HSET', leases, 'cancelled', table.concat(fences, ' '))
end
return fences
