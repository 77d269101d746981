-- PutToken: makes a token valid, or renames it.
-- KEYS  1 api_tokens:by_token
-- ARGV  1 prefix, 2 now, 3 mixed, 4 token, 5 name
-- Reply: 1.
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
return 1
