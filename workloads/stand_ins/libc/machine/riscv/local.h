#include "../../string/local.h"
