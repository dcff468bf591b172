-- A page of the jids of one listing.

local listings = use('queue/listings')

return function(args)
  local state, queue, offset, count = args:text(), args:text(), args:number() or 0, args:number() or 25
  return listings.page(state, queue, offset, count)
end
