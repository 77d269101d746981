-- RemoveTopic: removes a topic and its subscriptions.
-- KEYS  1 topic:{topic}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 topic, 5 publisher or "" for the operator
-- Reply: 1 removed, 0 unknown, -1 when another publisher owns the topic.
local topic, publisher = ARGV[4], ARGV[5]
if redis.call('SISMEMBER', P .. 'topics', topic) == 0 then return 0 end
local owner = redis.call('HGET', KEYS[1], 'publisher')
if publisher ~= '' and owner ~= publisher then return -1 end
local tokens = redis.call('SMEMBERS', P .. 'subscribers:' .. topic)
for _, token in ipairs(tokens) do expect('SCARD', 'topics:' .. token) end
expect('HLEN', 'routemaster:claims')
for _, token in ipairs(tokens) do
    redis.call('SREM', P .. 'topics:' .. token, topic)
end
redis.call('DEL', KEYS[1], P .. 'subscribers:' .. topic)
redis.call('SREM', P .. 'topics', topic)
forget_name('topics', topic)
if owner then
    local claims = tonumber(redis.call('HGET', P .. 'routemaster:claims', owner)) or 0
    if claims > 1 then
        redis.call('HSET', P .. 'routemaster:claims', owner, claims - 1)
    else
        redis.call('HDEL', P .. 'routemaster:claims', owner)
    end
end
return 1
