"""Jobs and their processes: launched, watched, judged, and recorded in the journal."""
