#pragma once

#include <fmt/format.h>

// Include this where text is formatted into a string or a log message. There fmt 9 compiles all of
// its formatting anew, which takes two seconds a file; here it is compiled once, in formatting.cpp.
#if FMT_VERSION / 10000 == 9
FMT_BEGIN_NAMESPACE
extern template void detail::vformat_to<char>(
    detail::buffer<char>&, basic_string_view<char>,
    basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)>, detail::locale_ref);
FMT_END_NAMESPACE
#endif
