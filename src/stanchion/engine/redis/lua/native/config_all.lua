-- Every option that was set, with its text.

local call = use('call')
local keys = use('keys')

return function() return call('hgetall', keys.config()) end
