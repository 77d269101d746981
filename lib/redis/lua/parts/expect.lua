-- Refuses a step before it changes anything: fails when one of the keys is of another type than
-- the command that tells its size, which costs next to nothing.
local function expect(measure, ...)
    for _, key in ipairs({...}) do redis.call(measure, P .. key) end
end

-- The same for all that a job of a queue may be moved between.
local function expect_queue(q)
    expect('SCARD', 'jobs:index:' .. q, 'routemaster:held:' .. q)
    expect('LLEN', 'jobs:instant:' .. q)
    expect('ZCARD', 'jobs:scheduled:' .. q)
end
