"""Is the function that a message needs among those that the first prompt shows, out of some 1,900
of foreign apps; and if not, does the model's own search bring it?

`catalogues` the functions, none of them ours · `cases` what people say · `measure` the figures
"""
