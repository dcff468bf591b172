-- Let queues take puts but give nothing out.

local call = use('call')
local keys = use('keys')

return function(args)
  for _, queue in ipairs(args:names()) do call('sadd', keys.paused(), queue) end
  return false
end
