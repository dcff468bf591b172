-- Finish a running job, or send it on to a next queue; the reply is its new state.

local settling = use('queue/settling')

return function(args)
  local command = settling.read_complete(args)
  return settling.complete_all({ command }, { settling.check_complete(command) })[1]
end
