// The visibility of the public API: the library is built with hidden visibility, and only what
// carries WARPALIGN_API can be linked against.
#pragma once

#if defined(_WIN32)
#if defined(WARPALIGN_BUILDING)
#define WARPALIGN_API __declspec(dllexport)
#else
#define WARPALIGN_API __declspec(dllimport)
#endif
#else
#define WARPALIGN_API __attribute__((visibility("default")))
#endif
