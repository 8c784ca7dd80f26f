"""Programs: how a user declares one, how it is checked, typed and published to compilers."""
