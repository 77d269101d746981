-- FindBatch: returns a queued batch of a subscriber.
-- KEYS  1 batches:{uid}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 token, 5 uid
-- Reply: queued_batch(), or nil.
return queued_batch(ARGV[5], ARGV[4])
