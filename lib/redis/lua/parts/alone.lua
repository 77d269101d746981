-- For scripts that run several steps of one kind: what a step needs that is not as simple as most,
-- its own script does, as a function of KEYS and ARGV.

-- Runs the one at place `i`. The steps have the first `common` arguments in common, and then each
-- its own ones, of which there are `own`. Returns what it replies, which may be an error.
local function alone(script, common, own, i)
    local arguments = {unpack(ARGV, 1, common)}
    for at = 1, own do arguments[common + at] = ARGV[common + own * (i - 1) + at] end
    local done, reply = pcall(script, KEYS, arguments)
    if not done and type(reply) ~= 'table' then return redis.error_reply(tostring(reply)) end
    return reply
end
