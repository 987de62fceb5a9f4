"""Ranks that a batch system starts: the shipped profiles for Slurm and PBS, or an ipyparallel profile of the user's.

settings.py   cluster.toml, where a site's settings stand
ports.py      the address and the ports under which a site's nodes reach this machine
job.py        the text of the job, and the configuration of ipcluster
site.py       Site: a profile by its name
slurm/, pbs/  the shipped profiles, ipyparallel's own form

`python -m course_lib.machines.ranks.profiles slurm 4` shows the job that would be submitted. See docs/cluster.md.
"""
