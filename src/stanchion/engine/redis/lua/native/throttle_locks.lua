-- The jids that hold a place, longest first.

local keys = use('keys')
local ordered = use('queue/ordered')

return function(args) return ordered.by_time(keys.places(args:text()), 0, -1) end
