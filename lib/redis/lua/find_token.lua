-- FindToken: returns the name of a token.
-- KEYS  1 api_tokens:by_token
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token
-- Reply: the name, or nil.
return redis.call('HGET', KEYS[1], ARGV[4])
