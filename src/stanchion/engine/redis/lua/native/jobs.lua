-- A page of the jids of one listing.

local listings = use('queue/listings')

return function(args)
  local state, queue, offset, count = args:text(), args:optional(), args:number(), args:number()
  return listings.page(state, queue, offset, count)
end
