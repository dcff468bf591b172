-- How many jobs a queue has running, waiting and scheduled together.

local call = use('call')
local keys = use('keys')

return function(args)
  local queue = args:text()
  return call('zcard', keys.locks(queue)) + call('zcard', keys.work(queue)) + call('zcard', keys.scheduled(queue))
end
