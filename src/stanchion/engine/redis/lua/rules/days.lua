-- UTC days, named by their midnight in seconds since the epoch.

local DAY = 86400

local days = {}

function days.day_of(when) return math.floor(when / DAY) * DAY end

-- The oldest day of statistics that is kept: today is the first of so many days.
function days.oldest_kept(now, count)
  return math.max(-2 ^ 53, days.day_of(now) - math.max(0, math.floor(count) - 1) * DAY)
end

return days
