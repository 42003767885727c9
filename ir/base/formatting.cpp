#include "ir/base/formatting.h"

#if FMT_VERSION / 10000 == 9
FMT_BEGIN_NAMESPACE
template void detail::vformat_to<char>(detail::buffer<char>&, basic_string_view<char>,
                                       basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)>,
                                       detail::locale_ref);
FMT_END_NAMESPACE
#endif
