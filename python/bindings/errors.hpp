// Errors of the library as exceptions of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace epsflow::python {

/// What an error says may hold names of files, which need not be UTF-8.
inline void set_error(PyObject* type, const std::exception& error) {
  const auto text = nanobind::steal(PyUnicode_DecodeFSDefault(error.what()));
  if (text.is_valid()) PyErr_SetObject(type, text.ptr());
}

}  // namespace epsflow::python
