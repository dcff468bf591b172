-- A queue's statistics of one UTC day: any moment of that day, or today.

local context = use('context')
local statistics = use('queue/statistics')

return function(args)
  local queue = args:text()
  return statistics.of(queue, args:number() or context.now)
end
