-- Circles of dependencies, in which every job would wait for itself.

local circles = {}

local function path(start, last, came_from)
  local back = { start }
  while last ~= start do
    back[#back + 1] = last
    last = came_from[last]
  end
  local circle = { start }
  for index = #back, 2, -1 do circle[#circle + 1] = back[index] end
  circle[#circle + 1] = start
  return circle
end

-- The path from a job along its dependencies back to itself; nil if there is none.
function circles.find_circle(start, depends_of)
  local came_from, stack = {}, { start }
  while #stack > 0 do
    local job = table.remove(stack)
    for _, dependency in ipairs(depends_of(job)) do
      if dependency == start then return path(start, job, came_from) end
      if not came_from[dependency] then
        came_from[dependency] = job
        stack[#stack + 1] = dependency
      end
    end
  end
end

return circles
