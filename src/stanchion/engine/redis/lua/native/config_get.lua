-- The text of an option, if it was set, and the one of its general option.

local call = use('call')
local keys = use('keys')

return function(args)
  local option = args:text()
  local general = string.match(option, '%-(heartbeat)$') or string.match(option, '%-(max%-pop%-retry)$')
  return call('hmget', keys.config(), option, general or option)
end
