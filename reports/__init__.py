"""What a run's evidence is turned into: terminal summary, HTML page, JUnit."""
