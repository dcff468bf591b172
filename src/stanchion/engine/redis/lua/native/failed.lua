-- How many jobs a group has, and a page of them, newest first.

local call = use('call')
local keys = use('keys')

return function(args)
  local key, start, limit = keys.failed(args:text()), args:number() or 0, args:number() or 25
  return { call('llen', key), limit > 0 and call('lrange', key, start, start + limit - 1) or {} }
end
