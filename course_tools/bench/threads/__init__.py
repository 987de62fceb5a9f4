"""`course bench threads`: training on one machine's cores, the schemes of chapter 04, where GridStep's time goes."""
