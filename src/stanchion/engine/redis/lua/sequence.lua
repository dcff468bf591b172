-- Numbers that only grow: the order in which jobs were put. They come from the server's clock in microseconds, so that nothing has to be
-- read or written for them, and go on from there when the library is loaded anew.

local clock = use('clock')
local context = use('context')

local latest = 0

return function()
  local now = context.given and clock.server_time() or context.now
  latest = math.max(latest + 1, math.floor(now * 1000000))
  return latest
end
