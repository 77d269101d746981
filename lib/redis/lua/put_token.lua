-- PutToken: adds a token, or changes its name.
-- KEYS  1 api_tokens:by_token
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 name
-- Reply: 1.
if redis.call('HSET', KEYS[1], ARGV[4], ARGV[5]) == 1 then
    note_name('api_tokens:by_token', ARGV[4])
end
return 1
