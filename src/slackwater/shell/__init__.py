"""`slackwater shell`: a thin shell over app, with the prompt of prompt_toolkit."""
