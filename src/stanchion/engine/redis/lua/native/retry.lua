-- Put a running job back to be tried again, at the cost of one retry; the reply is how many remain.

local records = use('queue/records')
local settling = use('queue/settling')

return function(args)
  local command = {
    jid = args:text(), queue = args:text(), worker = args:text(), delay = args:number(), group = args:optional(),
    message = args:optional(), attempt = args:optional_number(),
  }
  return settling.retry(records.held(command.jid, command.worker, command.attempt), command)
end
