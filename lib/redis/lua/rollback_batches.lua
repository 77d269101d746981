-- For check_rollback, which checks a server before a return to Ruby Routemaster: reads batches.
-- KEYS  1 batches:index
-- ARGV  1 prefix, 2 now, 3 fleet, 4 "batches:" or "routemaster:dead_batch:", 5 the number of
--       elements before the messages in each list, of which the third last is the subscriber, 6...
--       uids
-- Reply: for each batch: uid, 1 if hidden from Ruby workers, else 0, subscriber or "", messages.
--        Stops at 4 MiB of messages, or after one larger batch.
local before, size, reply = tonumber(ARGV[5]), 0, {}
for i = 6, #ARGV do
    local list = redis.pcall('LRANGE', P .. ARGV[4] .. ARGV[i], 0, -1)
    local messages = {}
    for at = before + 1, #list do
        messages[#messages + 1] = list[at]
        size = size + #list[at]
    end
    if size > 4194304 and #reply > 0 then break end
    local at = #reply
    reply[at + 1] = ARGV[i]
    reply[at + 2] = redis.call('EXISTS', P .. 'routemaster:unreadable:' .. ARGV[i])
    reply[at + 3], reply[at + 4] = list[before - 2] or '', messages
end
return reply
