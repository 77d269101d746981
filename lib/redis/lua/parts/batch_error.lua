-- Why the last attempt at a queued batch failed. It outlives the batch by a day at most, if another
-- program ends that.
local function error_key(uid) return P .. 'routemaster:batch_error:' .. uid end
