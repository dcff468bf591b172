-- Put a running job back to be tried again, at the cost of one retry, unless it is free; the reply is how many remain.

local records = use('queue/records')
local settling = use('queue/settling')

return function(args)
  local command = {
    jid = args:text(), queue = args:text(), worker = args:text(), delay = args:number() or 0, group = args:text(),
    message = args:text(), attempt = args:number(), free = args:flag(),
  }
  return settling.retry(records.held_whole(command.jid, command.worker, command.attempt), command)
end
