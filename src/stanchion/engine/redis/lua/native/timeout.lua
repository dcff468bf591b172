-- Take the lock of running jobs away now: each is stalled, and the first that its queue gives out.

local records = use('queue/records')
local settling = use('queue/settling')
local wake = use('queue/wake')

return function(args)
  local jobs = {}
  for index, jid in ipairs(args:names()) do jobs[index] = records.running(jid) end
  for _, job in ipairs(jobs) do
    settling.timeout(job)
    wake.up(job.queue)
  end
  return false
end
