"""Who comes first: orders of arrival and the search through them; collectives begun in another order."""
