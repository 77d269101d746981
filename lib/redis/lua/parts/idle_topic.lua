-- Removes a topic created only by subscriptions, after the last subscription ended. A mixed
-- deployment keeps the topic: a Ruby process creates the topic before it subscribes, and must find
-- the topic then.
local function forget_if_idle(topic)
    if mixed then return end
    if redis.call('EXISTS', P .. 'topic:' .. topic, P .. 'subscribers:' .. topic) == 0 then
        redis.call('SREM', P .. 'topics', topic)
        forget_name('topics', topic)
    end
end
