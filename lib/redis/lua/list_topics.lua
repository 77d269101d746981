-- ListTopics: lists the topics, by name.
-- KEYS  1 topics
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: for each topic: name, publisher or nil, number of events or nil; or 0 when the index is
--        outdated.
local names = page('topics', false)
if not names then return 0 end
local listed = {}
for i, name in ipairs(names) do
    local known = redis.call('HMGET', P .. 'topic:' .. name, 'publisher', 'counter')
    listed[i] = {name, known[1], known[2]}
end
return listed
