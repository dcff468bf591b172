-- Give an option its default again.

local call = use('call')
local events = use('queue/events')
local keys = use('keys')
local quiet = use('queue/quiet')

return function(args)
  local option = args:text()
  call('hdel', keys.config(), option)
  quiet.disturb()
  events.log('config_unset', 'option', option)
  return false
end
