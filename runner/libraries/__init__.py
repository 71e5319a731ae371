"""What is tested: MPI libraries and frameworks, the builds for them, how their ranks are started."""
