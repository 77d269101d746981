-- For scripts that perform several steps of one kind. The script performs simple steps itself. For
-- all further steps, it calls the script for a single step as a function of KEYS and ARGV.

-- Performs the step number `i`. All steps share the first `common` arguments in ARGV. After them
-- follow `own` arguments for each step. Returns the reply of the step, which may be an error.
local function alone(script, common, own, i)
    local arguments = {unpack(ARGV, 1, common)}
    for at = 1, own do arguments[common + at] = ARGV[common + own * (i - 1) + at] end
    local done, reply = pcall(script, KEYS, arguments)
    if not done and type(reply) ~= 'table' then return redis.error_reply(tostring(reply)) end
    return reply
end
