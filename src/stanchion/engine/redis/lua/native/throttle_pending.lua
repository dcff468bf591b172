-- The jids that wait for a place, in the order in which they will get it.

local keys = use('keys')
local ordered = use('queue/ordered')

return function(args) return ordered.line(keys.pending(args:text()), 0, -1) end
