"""The referee of the story tree: a naive model of it, and the machine that holds the program against the model."""
