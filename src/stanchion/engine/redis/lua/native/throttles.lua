-- Every limit that is set.

local call = use('call')
local context = use('context')
local keys = use('keys')
local texts = use('texts')
local throttles = use('queue/throttles')

return function()
  local found = {}
  for _, id in ipairs(call('smembers', keys.throttles())) do
    local ends = tonumber(call('zscore', keys.expiring(), id))
    if not ends or ends > context.now then
      local maximum, expires = throttles.limit(id)
      found[#found + 1] = { id, maximum, expires > 0 and texts.number(expires - context.now) or false }
    end
  end
  return found
end
