-- Puts a job into `main` or `aux`, where jobs have no ids. The job is placed before it enters the
-- index: if placing fails, the job can be pushed again.
local function ruby_push(q, job, run_at)
    if redis.call('SISMEMBER', KEYS[1], job) == 1 then return {0, 0} end
    if batch_of(q, job) then
        -- A delivery job needs these checks, since placing it may also change an ordering group.
        -- For other jobs, place() fails at its first change or not at all.
        expect('SCARD', 'routemaster:blocked:main', 'routemaster:callbacks')
        expect('LLEN', 'jobs:instant:main')
        expect('ZCARD', 'jobs:scheduled:main', 'jobs:scheduled:main:callbacks')
    end
    place(q, job, run_at)
    redis.call('SADD', KEYS[1], job)
    return {1, 0}
end
