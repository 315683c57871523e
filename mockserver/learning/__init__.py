"""What recordings teach: how a service changed, and which of our guesses they confirm."""
