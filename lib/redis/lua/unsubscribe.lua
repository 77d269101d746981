-- Unsubscribe: removes the subscription of a subscriber to a topic.
-- KEYS  1 topics:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 topic
-- Reply: 0 done, 1 unknown subscriber, 2 unknown topic, 3 not subscribed.
local token, topic = ARGV[4], ARGV[5]
if redis.call('SISMEMBER', P .. 'subscribers', token) == 0 then return 1 end
if redis.call('SISMEMBER', P .. 'topics', topic) == 0 then return 2 end
expect('SCARD', 'subscribers:' .. topic, 'topics')
if redis.call('SREM', KEYS[1], topic) == 0 then return 3 end
redis.call('SREM', P .. 'subscribers:' .. topic, token)
forget_if_idle(topic)
return 0
