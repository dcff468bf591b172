-- Let a job in the depends state no longer wait for some jobs, or for any.

local dependents = use('queue/dependents')
local links = use('queue/links')
local records = use('queue/records')
local replies = use('replies')

return function(args)
  local job = records.require(args:text())
  if job.state ~= 'depends' then replies.refuse('job-not-depending', 'jid', job.jid, 'state', job.state) end
  local off = args:optional_names()
  if off then
    for _, jid in ipairs(off) do links.cut(job.jid, jid) end
  else
    links.cut_all(job)
  end
  dependents.release_free({ job.jid })
  return 1
end
