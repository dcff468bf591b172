-- A page of the tags that two or more jobs bear, most frequent first, equals by name.

local call = use('call')
local keys = use('keys')
local ordered = use('queue/ordered')

return function(args)
  local offset, count = args:number() or 0, args:number() or 25
  local frequent = call('zcount', keys.tags(), 2, '+inf')
  return ordered.most(keys.tags(), offset, math.max(0, math.min(count, frequent - offset)))
end
