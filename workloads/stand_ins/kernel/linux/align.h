#include <stand_in/kernel.h>
