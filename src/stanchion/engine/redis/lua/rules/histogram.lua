-- The histogram of waits and runs: 60 buckets of a second, 59 of a minute, 23 of an hour, 6 of a day.

local MINUTE, HOUR, DAY = 60, 3600, 86400

local histogram = {}

-- The label of the bucket that a duration falls in: negative ones in the first, those beyond six days in the last.
function histogram.bucket(seconds)
  if seconds < MINUTE then return 's' .. math.max(0, math.floor(seconds)) end
  if seconds < HOUR then return 'm' .. math.floor(seconds / MINUTE) end
  if seconds < DAY then return 'h' .. math.floor(seconds / HOUR) end
  return 'd' .. math.min(6, math.floor(seconds / DAY))
end

return histogram
