-- Mean and deviation of a stream of values, without keeping them.

local moments = {}

-- The count, mean and sum of squared distances with one more value (Welford's update).
function moments.add(count, mean, squares, value)
  local distance = value - mean
  count = count + 1
  mean = mean + distance / count
  return count, mean, squares + distance * (value - mean)
end

return moments
