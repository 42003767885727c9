# heddle_embed_sources(TARGET): compiles into TARGET the texts of ir/scalar/, codegen/device/ and
# codegen/user/, the page that reports are shown on, and the fingerprint of everything that decides
# what a kernel looks like (codegen/common/embedded.h).
function(heddle_embed_sources target)
  file(GLOB texts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/ir/scalar/*.h ${PROJECT_SOURCE_DIR}/codegen/device/*.h)
  file(GLOB users_texts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/codegen/user/*.h)
  list(APPEND texts ${users_texts})
  file(GLOB_RECURSE hashed CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/ir/*.cpp ${PROJECT_SOURCE_DIR}/ir/*.h ${PROJECT_SOURCE_DIR}/ir/*.def
    ${PROJECT_SOURCE_DIR}/passes/*.cpp ${PROJECT_SOURCE_DIR}/passes/*.h
    ${PROJECT_SOURCE_DIR}/codegen/*.cpp ${PROJECT_SOURCE_DIR}/codegen/*.h)
  file(GLOB page CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/codegen/page/*.html ${PROJECT_SOURCE_DIR}/codegen/page/*.css
    ${PROJECT_SOURCE_DIR}/codegen/page/*.js)
  heddle_embed(${target} embedded_texts texts "${texts}")
  heddle_embed(${target} page_texts texts "${page}")
  heddle_embed(${target} source_fingerprint fingerprint "${hashed}")
endfunction()

function(heddle_embed target name mode files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(absolute ${files})
  list(TRANSFORM absolute PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DMODE=${mode} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${output}
            -DSYMBOL=${name} "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${absolute} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
