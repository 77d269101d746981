-- Removes a topic that only subscriptions created, once the last of them ended. Ruby processes
-- create the topic first and subscribe then, and must find it.
local function forget_if_idle(topic)
    if mixed then return end
    if redis.call('EXISTS', P .. 'topic:' .. topic, P .. 'subscribers:' .. topic) == 0 then
        redis.call('SREM', P .. 'topics', topic)
        forget_name('topics', topic)
    end
end
