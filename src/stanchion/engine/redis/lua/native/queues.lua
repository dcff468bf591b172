-- How many jobs are in each state, for every known queue in the order first seen.

local call = use('call')
local keys = use('keys')
local listings = use('queue/listings')

return function()
  local found = {}
  for index, queue in ipairs(call('zrange', keys.queues(), 0, -1)) do found[index] = listings.counts(queue) end
  return found
end
