-- ListTokens: lists the valid tokens, by token.
-- KEYS  1 api_tokens:by_token
-- ARGV  1 prefix, 2 now, 3 fleet, 4 after, 5 limit, 6 "1" once the index was repaired
-- Reply: token and name for each token; or 0 when the index is outdated.
local names = page('api_tokens:by_token', true)
if not names then return 0 end
local listed = {}
for i, token in ipairs(names) do listed[i] = {token, redis.call('HGET', KEYS[1], token)} end
return listed
