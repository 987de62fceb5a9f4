"""Work as files, and the processes that take it: on this machine's cores or on a cluster's engines."""
