# cmake -D program=EPSFLOW -D emulator=COMMAND -D folder=FOLDER -P EpsflowPages.cmake: has the program print its manual
# page and its shell completion into FOLDER. COMMAND runs programs of another processor, and is empty for those of this
# one.
file(MAKE_DIRECTORY "${folder}")

function(print_page file)
  execute_process(COMMAND ${emulator} "${program}" ${ARGN} OUTPUT_FILE "${folder}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

print_page(epsflow.1 man)
foreach(shell IN ITEMS bash zsh fish)
  print_page(epsflow.${shell} completion ${shell})
endforeach()
