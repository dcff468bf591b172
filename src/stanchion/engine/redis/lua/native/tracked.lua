-- The tracked jobs that exist, and the tracked jids that do not.

local call = use('call')
local keys = use('keys')
local records = use('queue/records')

return function()
  local jobs, expired = {}, {}
  for _, jid in ipairs(call('zrange', keys.tracked(), 0, -1)) do
    local job = records.find_whole(jid)
    if job then
      jobs[#jobs + 1] = records.whole(job, true)
    else
      expired[#expired + 1] = jid
    end
  end
  return { jobs, expired }
end
