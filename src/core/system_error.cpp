#include "core/system_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace mfga {

Error system_error(std::string_view message, int code) {
  constexpr std::array kOfUser = {ENOENT, ENOTDIR, EISDIR, EACCES,       EPERM,     EROFS,
                                  ELOOP,  EEXIST,  EINVAL, ENAMETOOLONG, EBADF,     EPIPE,
                                  ENXIO,  ETXTBSY, ENODEV, EXDEV,        EOPNOTSUPP};
  const bool is_of_user = std::ranges::find(kOfUser, code) != kOfUser.end();
  return {is_of_user ? ErrorKind::kIo : ErrorKind::kSystem,
          fmt::format("{} ({})", message, std::generic_category().message(code))};
}

}  // namespace mfga
