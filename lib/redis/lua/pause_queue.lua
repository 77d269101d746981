-- PauseQueue: pauses or resumes a queue.
-- KEYS  1 routemaster:paused
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 "1" to pause, "0" to resume
-- Effect: while a queue is paused, pushes wake no workers. Resuming wakes all workers of the queue.
-- Reply: 1.
local q = ARGV[4]
if ARGV[5] == '1' then
    redis.call('SADD', KEYS[1], q)
    redis.call('DEL', P .. 'routemaster:waiting:' .. q)
    enlist(q)
elseif redis.call('SREM', KEYS[1], q) == 1 then
    redis.call('PUBLISH', P .. 'routemaster:wake', q)
    delist(q)
end
return 1
