"""Reference clients: clients that somebody else wrote agree with ours on what is on the wire."""
