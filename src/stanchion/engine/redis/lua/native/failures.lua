-- How many jobs are failed in each group.

local call = use('call')
local keys = use('keys')

return function()
  local found = {}
  for _, group in ipairs(call('smembers', keys.failures())) do
    found[#found + 1] = group
    found[#found + 1] = call('llen', keys.failed(group))
  end
  return found
end
