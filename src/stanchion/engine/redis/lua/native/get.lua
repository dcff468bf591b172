-- The job, or nothing.

local records = use('queue/records')

return function(args)
  local job = records.find_whole(args:text())
  return job and records.whole(job) or false
end
