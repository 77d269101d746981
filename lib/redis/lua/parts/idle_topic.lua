-- Removes a topic that only subscriptions created, after the last subscription ended. Not in a
-- mixed deployment: a Ruby process creates the topic before it subscribes, and the topic must exist
-- then.
local function forget_if_idle(topic)
    if mixed then return end
    if redis.call('EXISTS', P .. 'topic:' .. topic, P .. 'subscribers:' .. topic) == 0 then
        redis.call('SREM', P .. 'topics', topic)
        forget_name('topics', topic)
    end
end
