-- How many jobs of a queue are in each state.

local listings = use('queue/listings')

return function(args) return listings.counts(args:text()) end
