-- ListTopics: tells the topics, by name.
-- KEYS  1 topics
-- ARGV  1 prefix, 2 now, 3 mixed, 4 after, 5 limit
-- Reply: for each its name, publisher or nil, number of events or nil.
local told = {}
for i, name in ipairs(page(redis.call('SMEMBERS', KEYS[1]), ARGV[4], tonumber(ARGV[5]))) do
    local known = redis.call('HMGET', P .. 'topic:' .. name, 'publisher', 'counter')
    told[i] = {name, known[1], known[2]}
end
return told
