-- Subscribe: creates or changes a subscriber, and replaces its topics.
-- KEYS  1 subscriber:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 callback, 6 uuid, 7 timeout or "", 8 max_events or "",
--       9 max_in_flight or "", 10 attempts_max or "", 11 age_max or "", 12 dead_max or "", 13...
--       topics
-- Reply: 1.
local token = ARGV[4]
local concurrency = concurrency_of(token)
local before = callback_of(token)
local present = redis.call('SMEMBERS', P .. 'topics:' .. token)
local wanted = {}
for i = 13, #ARGV do wanted[ARGV[i]] = true end
for _, topic in ipairs(present) do expect('SCARD', 'subscribers:' .. topic) end
for topic in pairs(wanted) do expect('SCARD', 'subscribers:' .. topic) end
expect('SCARD', 'subscribers', 'topics')
expect('ZCARD', 'routemaster:group:' .. token)
expect_queue('main')
if redis.call('SADD', P .. 'subscribers', token) == 1 then note_name('subscribers', token) end
redis.call('HSET', KEYS[1], 'callback', ARGV[5], 'uuid', ARGV[6])
redirect(token, before, concurrency)
-- After a restart, a process registers its callbacks again. Its workers must then acquire the
-- deliveries that are waiting.
wake(to_callbacks, -1)
if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], 'timeout', ARGV[7]) end
if ARGV[8] ~= '' then redis.call('HSET', KEYS[1], 'max_events', ARGV[8]) end
if ARGV[9] ~= '' then
    redis.call('HSET', KEYS[1], 'max_in_flight', ARGV[9])
    set_concurrency(token, concurrency, (concurrency_of(token)))
end
for i, field in ipairs({'attempts_max', 'age_max', 'dead_max'}) do
    if ARGV[9 + i] ~= '' then redis.call('HSET', KEYS[1], field, ARGV[9 + i]) end
end
for _, topic in ipairs(present) do
    if not wanted[topic] then
        redis.call('SREM', P .. 'topics:' .. token, topic)
        redis.call('SREM', P .. 'subscribers:' .. topic, token)
        forget_if_idle(topic)
    end
end
for topic in pairs(wanted) do
    if redis.call('SADD', P .. 'topics', topic) == 1 then note_name('topics', topic) end
    redis.call('SADD', P .. 'topics:' .. token, topic)
    redis.call('SADD', P .. 'subscribers:' .. topic, token)
end
return 1
