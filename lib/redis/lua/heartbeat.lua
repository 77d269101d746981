-- Heartbeat: records that a worker is alive.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker
-- Effect: its lease records outlive it by a day, should a Ruby worker take its jobs and
--       forget it.
-- Reply: the fences of its jobs that were cancelled.
local leases = 'routemaster:leases:' .. ARGV[4]
expect('HLEN', 'workers', leases)
leases = P .. leases
if redis.call('HSET', KEYS[1], ARGV[4], now) == 1 then note_name('workers', ARGV[4]) end
redis.call('EXPIRE', leases, 86400)
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
