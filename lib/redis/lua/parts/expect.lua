-- Runs a command on a key, before a step has changed anything. If the key has a wrong type, the
-- step fails with an error that names the key. The error has only the public part of a token,
-- because tokens are secret.
local function read_key(command, key, ...)
    local reply = redis.pcall(command, P .. key, ...)
    if type(reply) ~= 'table' or not reply.err then return reply end
    if string.sub(reply.err, 1, 10) ~= 'WRONGTYPE ' then error(reply) end
    local name = key
    for _, family in ipairs({'subscriber:', 'topics:', 'batches:current:', 'routemaster:group:',
        'routemaster:dead:'}) do
        if string.sub(key, 1, #family) == family then
            local token = string.sub(key, #family + 1)
            local public = string.match(token, '^(.-)%-%-') or string.sub(token, 1, 4)
            name = family .. public .. '...'
        end
    end
    error({err = 'WRONGTYPE ' .. name .. ': ' .. command .. ' does not apply to it'})
end

-- Checks the types of keys before a step changes them. The command `measure` returns the size of a
-- key at very little cost. An absent key passes the check. Returns the size of the last key.
local function expect(measure, ...)
    local size
    for _, key in ipairs({...}) do size = read_key(measure, key) end
    return size
end

-- Checks the types of all keys between which a job of a queue may move. If the jobs of the queue
-- have ids, returns the number of waiting jobs with a priority plus the number of jobs that wait
-- for their ordering group.
local function expect_queue(q)
    expect('SCARD', 'jobs:index:' .. q, 'routemaster:blocked:' .. q)
    expect('LLEN', 'jobs:instant:' .. q)
    expect('ZCARD', 'jobs:scheduled:' .. q)
    if q == 'main' then
        expect('SCARD', 'routemaster:callbacks')
        expect('ZCARD', 'jobs:scheduled:main:callbacks')
    elseif q == 'aux' then
        expect('ZCARD', 'routemaster:aux')
    elseif q ~= 'main:callbacks' then
        expect('HLEN', 'routemaster:job:' .. q, 'routemaster:deleted:' .. q,
            'routemaster:keyed:' .. q, 'routemaster:keys:' .. q)
        local ranks = expect('ZCARD', 'routemaster:ids:' .. q, 'routemaster:buried:' .. q,
            'routemaster:burials:' .. q, 'routemaster:dependents:' .. q,
            'routemaster:ranks:' .. q)
        return ranks + expect('ZCARD', 'routemaster:held:' .. q)
    end
end
