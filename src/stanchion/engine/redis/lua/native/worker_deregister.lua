-- Forget workers; how many were known. Jobs that they hold stay running until their locks lapse.

local call = use('call')
local keys = use('keys')
local workers = use('queue/workers')

return function(args)
  local known, oldest = 0, workers.oldest_seen()
  for _, worker in ipairs(args:names()) do
    local seen = tonumber(call('zscore', keys.workers(), worker))
    if seen and seen >= oldest then known = known + 1 end
    call('zrem', keys.workers(), worker)
  end
  return known
end
