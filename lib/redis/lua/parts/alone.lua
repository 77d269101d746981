-- For scripts that run several steps of one kind. The script handles simple steps itself. For a
-- step with further needs, the script for single steps runs as a function of KEYS and ARGV.

-- Runs the step at place `i`. All steps share the first `common` arguments of ARGV, followed by
-- `own` arguments for each step. Returns the reply of the step, which may be an error.
local function alone(script, common, own, i)
    local arguments = {unpack(ARGV, 1, common)}
    for at = 1, own do arguments[common + at] = ARGV[common + own * (i - 1) + at] end
    local done, reply = pcall(script, KEYS, arguments)
    if not done and type(reply) ~= 'table' then return redis.error_reply(tostring(reply)) end
    return reply
end
