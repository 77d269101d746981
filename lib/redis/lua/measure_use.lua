-- MeasureUse: returns how much memory the server uses.
-- KEYS  1 batches:index
-- ARGV  1 prefix, 2 now, 3 fleet
-- Reply: the bytes used by the whole server.
return tonumber(string.match(redis.call('INFO', 'memory'), 'used_memory:(%d+)'))
