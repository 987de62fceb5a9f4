def variants(source):
    return []
