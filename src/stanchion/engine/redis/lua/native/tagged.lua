-- How many jobs bear a tag, and a page of them in the order in which they got it.

local call = use('call')
local keys = use('keys')

return function(args)
  local key, offset, count = keys.tagged(args:text()), args:number(), args:number()
  return { call('zcard', key), count > 0 and call('zrange', key, offset, offset + count - 1) or {} }
end
