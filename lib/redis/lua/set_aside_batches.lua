-- For check_rollback: hides batches from Ruby workers.
-- KEYS  1 batches:index
-- ARGV  1 prefix, 2 now, 3 fleet, 4... uids
-- Reply: 1.
expect_queue('main')
for i = 4, #ARGV do
    local token = subscriber_of(ARGV[i])
    -- A batch that has no subscriber in `batches:{uid}` is DEAD, and has no job.
    set_aside(token or '', ARGV[i], not token)
end
return 1
