-- Complete several jobs as one change: all are completed, or none.

local replies = use('replies')
local settling = use('queue/settling')

-- Check a completion as if those before it were done.
local function check(command, done)
  if done[command.jid] then replies.refuse('job-not-running', 'jid', command.jid, 'state', done[command.jid]) end
  local job = settling.check_complete(command)
  done[command.jid] = command.next and 'waiting' or 'complete'
  return job
end

return function(args)
  local commands, jobs, done = {}, {}, {}
  for index = 1, args:number() do
    commands[index] = settling.read_complete(args:part())
    jobs[index] = replies.within('complete_many', 'completes', index - 1, check, commands[index], done)
  end
  return settling.complete_all(commands, jobs)
end
