-- The limit: its maximum (0 where none was set), and when it ends, by now (0: never).

local context = use('context')
local texts = use('texts')
local throttles = use('queue/throttles')

return function(args)
  local id = args:text()
  local maximum, expires = throttles.limit(id)
  return { id, maximum, expires > 0 and texts.number(expires - context.now) or false }
end
