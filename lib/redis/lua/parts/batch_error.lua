-- The key with the error of the last attempt at a queued batch. It expires after a day, in case
-- another program removes the batch.
local function error_key(uid) return P .. 'routemaster:batch_error:' .. uid end
