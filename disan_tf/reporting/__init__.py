"""Work directories -> recorded results -> the papers' tables and those of the READMEs."""
