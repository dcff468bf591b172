-- How many jobs bear a tag, and a page of them in the order in which they got it.

local call = use('call')
local keys = use('keys')

return function(args)
  local key, offset, count = keys.tagged(args:text()), args:number() or 0, args:number() or 25
  return { call('zcard', key), count > 0 and call('zrange', key, offset, offset + count - 1) or {} }
end
