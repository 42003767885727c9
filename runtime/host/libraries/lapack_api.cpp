#include "runtime/host/libraries/lapack_api.h"

namespace heddle::runtime::lapack {

namespace {

/// Binds routines of one element type, whose names start with `letter`.
class Binder {
 public:
  Binder(char letter, const DynamicLibrary& library, std::string& missing)
      : letter_(letter), library_(library), missing_(missing) {}

  template <class Function>
  void operator()(Function& function, const char* name) const {
    library_.bind(function, (letter_ + std::string(name) + "_").c_str(), missing_);
  }

 private:
  char letter_;
  const DynamicLibrary& library_;
  std::string& missing_;
};

void bind_common(Routines& out, const Binder& bind) {
  bind(out.potrf, "potrf");
  bind(out.getrf, "getrf");
  bind(out.getrs, "getrs");
  bind(out.trsm, "trsm");
  bind(out.geqrf, "geqrf");
}

void bind_real(Routines& out, const Binder& bind) {
  bind_common(out, bind);
  bind(out.orgqr, "orgqr");
  bind(out.gesdd_real, "gesdd");
  bind(out.syevd, "syevd");
  bind(out.geev_real, "geev");
}

void bind_complex(Routines& out, const Binder& bind) {
  bind_common(out, bind);
  bind(out.orgqr, "ungqr");
  bind(out.gesdd_complex, "gesdd");
  bind(out.heevd, "heevd");
  bind(out.geev_complex, "geev");
}

}  // namespace

void bind(Api& api, const DynamicLibrary& library, std::string& missing) {
  bind_real(api.f32, {'s', library, missing});
  bind_real(api.f64, {'d', library, missing});
  bind_complex(api.c64, {'c', library, missing});
  bind_complex(api.c128, {'z', library, missing});
}

}  // namespace heddle::runtime::lapack
