-- Forgets a topic that only subscriptions made, once the last of them ended. A process of the
-- original makes the topic first and subscribes then, and must find it.
local function forget_if_idle(topic)
    if mixed then return end
    if redis.call('EXISTS', P .. 'topic:' .. topic, P .. 'subscribers:' .. topic) == 0 then
        redis.call('SREM', P .. 'topics', topic)
        forget_name('topics', topic)
    end
end
