"""Campaigns: solvers run over many tasks under limits, with tables, plots and a page.

`scripts/bench` is the command. Plain runs need the standard library only; plots, the page and
clusters need what `scripts/setup --campaign` installs.
"""
