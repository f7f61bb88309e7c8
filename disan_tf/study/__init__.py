"""Work directories -> recorded results -> the papers' tables and the READMEs' tables."""
