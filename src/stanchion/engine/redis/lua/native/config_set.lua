-- Set an option.

local call = use('call')
local events = use('queue/events')
local keys = use('keys')
local options = use('rules/config')
local quiet = use('queue/quiet')
local texts = use('texts')

return function(args)
  local option, value = args:text(), args:text()
  call('hset', keys.config(), option, value)
  quiet.disturb()
  local json = options.is_number(option) and value or texts.quote(value)
  events.publish('log', texts.object('event', '"config_set"', 'option', texts.quote(option), 'value', json))
  return false
end
