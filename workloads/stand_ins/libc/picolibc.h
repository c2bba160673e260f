/* Stands in for the header of how picolibc was built: as it comes. */
