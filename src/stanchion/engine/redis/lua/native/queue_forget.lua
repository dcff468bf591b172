-- Drop queues from the list of known ones: only that.

local call = use('call')
local keys = use('keys')

return function(args)
  for _, queue in ipairs(args:names()) do call('zrem', keys.queues(), queue) end
  return false
end
