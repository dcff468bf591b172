-- Let a job in the depends state wait for more jobs.

local dependents = use('queue/dependents')
local links = use('queue/links')
local records = use('queue/records')
local replies = use('replies')

return function(args)
  local job = records.require(args:text())
  if job.state ~= 'depends' then replies.refuse('job-not-depending', 'jid', job.jid, 'state', job.state) end
  local on = links.unfinished(args:names(), job.policy)
  if #on > 0 then links.refuse_circle(job.jid, on) end
  links.tie(job.jid, job.policy, on)
  dependents.tell_of_failed(on)
  return 1
end
