-- Remove a limit; the jobs that waited for it come back in line.

local throttles = use('queue/throttles')

return function(args)
  throttles.remove(args:text())
  return false
end
