#include "../../cJSON.h"
