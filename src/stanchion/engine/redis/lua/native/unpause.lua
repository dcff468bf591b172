-- Let queues give out jobs again.

local call = use('call')
local keys = use('keys')
local wake = use('queue/wake')

return function(args)
  for _, queue in ipairs(args:names()) do
    call('srem', keys.paused(), queue)
    wake.up(queue, call('zcard', keys.work(queue)))
  end
  return false
end
