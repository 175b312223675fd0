// What a backend implements for each stage: one class, one enqueue.
//
// Core has validated everything before it calls these: types, shapes, sizes and devices match the
// plan. All geometry is decided in core and handed over as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait; failures are thrown as warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/stages/apodize.hpp>
#include <warpalign/stages/cross_power.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>
#include <warpalign/stages/peak.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/stages/statistics.hpp>
#include <warpalign/stages/warp.hpp>

namespace warpalign::backend {

/// Common base: owned by plans, destroyed before the driver.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

class Sobel : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

class Statistics : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& record) = 0;
};

class Apodize : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Memory& statistics,
                       Memory& canvas) = 0;
};

class RealFft : public Stage {
 public:
  virtual void enqueue_forward(Queue& queue, const Memory& real, Memory& spectrum) = 0;
  virtual void enqueue_inverse(Queue& queue, Memory& spectrum, Memory& real) = 0;
};

class Magnitude : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& spectrum, Memory& magnitude) = 0;
};

class LogPolar : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& magnitude, Memory& output) = 0;
};

class CrossPower : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& output) = 0;
};

class Peak : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& records) = 0;
};

class Warp : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Affine& output_to_input,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend
