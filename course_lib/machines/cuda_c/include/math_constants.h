// Names of constants, for sources that include math_constants.h: those that kernels use most.
#pragma once
constexpr float CUDART_INF_F = INFINITY, CUDART_NAN_F = NAN, CUDART_PI_F = 3.14159265f, CUDART_PIO2_F = 1.57079633f;
constexpr float CUDART_SQRT_TWO_F = 1.41421356f, CUDART_L2E_F = 1.44269504f, CUDART_LN2_F = 0.693147181f;
constexpr double CUDART_INF = INFINITY, CUDART_NAN = NAN, CUDART_PI = 3.14159265358979323846;
