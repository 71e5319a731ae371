"""python -m assay"""

from assay import main

main()
