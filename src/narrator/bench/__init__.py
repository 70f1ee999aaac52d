"""What narrator costs, measured on campaigns of five shapes, beside what the same work costs without it.

``fixtures`` builds the campaigns in a scratch folder, ``sampling`` takes samples in turn, each module ``of_…`` measures
one room, ``report`` prints. Nothing here fails on a number: machines differ, ratios within one run are what counts.
"""
