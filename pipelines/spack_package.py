# A recipe for Spack: `assay pipeline spack` prints it. Save it as packages/assay/package.py of a repository of recipes,
# then
#     spack dev-build assay@0.1.0        in a clone of Assay, or
#     spack develop --path CLONE assay@0.1.0 && spack install assay
from spack.package import *


class Assay(PythonPackage):
    """Assay tests whether an MPI library does what the MPI standard (version 5.0) says."""

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.25:", type="build")

    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-cxxfilt@0.3:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-lxml@5:", type=("build", "run"))
    depends_on("py-packaging@23:", type=("build", "run"))
    depends_on("py-pip@22:", type=("build", "run"))
    depends_on("py-pyelftools@0.30:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-xxhash@3.4:", type=("build", "run"))

    variant("compare", default=True, description="Compare the times of two runs")
    depends_on("py-scipy@1.11:", type=("build", "run"), when="+compare")

    # What `assay run` builds its test binary with, in the user's cache, when it first meets an MPI library.
    depends_on("c", type="run")
    depends_on("cxx", type="run")
    depends_on("cmake@3.25:", type="run")
    depends_on("ninja", type="run")
    depends_on("pkgconfig", type="run")
    depends_on("googletest", type="run")
    depends_on("fmt@9:", type="run")
    depends_on("cli11", type="run")
    depends_on("nlohmann-json", type="run")
    depends_on("xxhash", type="run")
    depends_on("libunwind", type="run")
    depends_on("libfabric", type="run")
