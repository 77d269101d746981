-- RemoveSubscriber; also RemoveToken, which removes a token and its subscriber.
-- KEYS  1 subscriber:{token}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 "1" to remove the API token, too
-- Effect: queued batches stay, and workers remove them when they are due. DEAD batches are dropped.
-- Reply: 1 removed, 0 unknown.
local token = ARGV[4]
local topics = redis.call('SMEMBERS', P .. 'topics:' .. token)
for _, topic in ipairs(topics) do expect('SCARD', 'subscribers:' .. topic) end
expect('SCARD', 'subscribers', 'topics')
expect('HLEN', 'subscriber:' .. token, 'api_tokens:by_token')
expect('ZCARD', 'routemaster:group:' .. token)
expect_queue('main')
expect_dead(token)
local removed = redis.call('SREM', P .. 'subscribers', token)
if removed == 1 then
    forget_name('subscribers', token)
    for _, topic in ipairs(topics) do
        redis.call('SREM', P .. 'subscribers:' .. topic, token)
        forget_if_idle(topic)
    end
    local before = callback_of(token)
    set_concurrency(token, concurrency_of(token), 1)
    begin_to_tidy(token)
    redis.call('DEL', KEYS[1], P .. 'topics:' .. token)
    redirect(token, before, 1)
    if mixed then redis.call('DEL', P .. 'routemaster:group:' .. token) end
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:dead:' .. token, 0, -1)) do
        drop_dead(uid, token)
    end
end
if ARGV[5] == '1' then
    removed = math.max(removed, redis.call('HDEL', P .. 'api_tokens:by_token', token))
    forget_name('api_tokens:by_token', token)
end
return removed
