-- ListSubscribers: tells the subscribers, by token.
-- KEYS  1 subscribers
-- ARGV  1 prefix, 2 now, 3 mixed, 4 after, 5 limit
-- Reply: for each what `status_of` tells.
local told = {}
for i, token in ipairs(page(redis.call('SMEMBERS', KEYS[1]), ARGV[4], tonumber(ARGV[5]))) do
    told[i] = status_of(token)
end
return told
