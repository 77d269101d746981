-- Heartbeat: records that a worker is alive.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker; and for a worker with a profile: 5 profile, 6 its
--       queues, each followed by a NUL, 7 busy, 8 busy_since, 9 how long the worker counts as alive
--       in ms
-- Effect: the leases of the worker expire in a day, because a Ruby worker may requeue its jobs and
--         remove it from `workers`. Its profile expires in three days. `routemaster:serving:{q}`
--         expires in a week. It contains when each worker of the queue will count as dead, and,
--         under the empty name, minus the time of the last heartbeat of any worker.
-- Reply: the fences of the worker's cancelled jobs.
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
