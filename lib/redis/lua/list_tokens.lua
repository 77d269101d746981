-- ListTokens: tells the valid tokens, by token.
-- KEYS  1 api_tokens:by_token
-- ARGV  1 prefix, 2 now, 3 mixed, 4 after, 5 limit
-- Reply: for each its token and name.
local told = {}
for i, token in ipairs(page(redis.call('HKEYS', KEYS[1]), ARGV[4], tonumber(ARGV[5]))) do
    told[i] = {token, redis.call('HGET', KEYS[1], token)}
end
return told
