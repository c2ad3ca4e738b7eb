#include "schemes.h"

#include <gtest/gtest.h>
TEST(Schemes, Placeholder) {}
