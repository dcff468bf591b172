-- Those of the jobs that exist, in the order asked.

local records = use('queue/records')

return function(args)
  local found = {}
  for _, jid in ipairs(args:names()) do
    local job = records.find_whole(jid)
    if job then found[#found + 1] = records.whole(job) end
  end
  return found
end
