"""The books of ranks: what each sent, received and entered in a cell, whether all books agree, and where a rank is."""
