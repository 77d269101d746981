-- PushJob with an idempotency key: pushes a job, unless an earlier push used the key.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 key, 6 fingerprint, 7 for how long to retain the key
--       in ms, 8 "1" for a key chosen by a program, of which a store retains 100,000, else "0", 9
--       the number of arguments of push_job.lua that follow, 10... these arguments, from the fourth
--       on
-- Parts: push_job() is the script of this name, as a function of KEYS and ARGV. counts() defines
--        functions that are needed beyond this limit.
-- Reply: as in push_job.lua; for a repeated key, the reply of its first push.
local q, label = ARGV[4], ARGV[4] .. ':' .. ARGV[5]
local named, keys = 'routemaster:pushed:', P .. 'routemaster:idempotency_keys'
local before, ends = read_key('GET', named .. label), now + tonumber(ARGV[7])
local fingerprint, outcome, id, ended
if before then fingerprint, outcome, id, ended = cmsgpack.unpack(before) end
if before and ended > now then
    if fingerprint == ARGV[6] then return {outcome, id} end
    return redis.error_reply('INVALID idempotency_key: was used for a push with other ' ..
        'content')
end
expect('ZCARD', 'routemaster:idempotency_keys')
expect('HLEN', 'counters')

local reply = push_job(KEYS, {ARGV[1], ARGV[2], ARGV[3], unpack(ARGV, 10)})
if reply.err then return reply end
redis.call('SET', P .. named .. label, cmsgpack.pack(ARGV[6], reply[1], reply[2], ends), 'PX',
    ARGV[7])
if ARGV[8] == '0' then return reply end

-- Removes up to two expired keys. Beyond 100,000 keys, also evicts the key that expires first.
local over = redis.call('ZRANGE', keys, '-inf', now, 'BYSCORE', 'LIMIT', 0, 2)
if #over > 0 then redis.call('ZREM', keys, unpack(over)) end
if redis.call('ZCARD', keys) >= 100000 then
    local first = redis.call('ZPOPMIN', keys)[1]
    redis.call('DEL', P .. named .. first)
    counts()('jobs.idempotency_keys_forgotten', string.match(first, '^[^:]*'), 1)
end
redis.call('ZADD', keys, ends, label)
return reply
