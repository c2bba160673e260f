/* Stands in for a header of bionic's and glibc's: nothing is chosen by it here. */
