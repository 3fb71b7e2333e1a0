# Run by cpack on the packages it has made, before it hands them out.
execute_process(
  COMMAND ${CPACK_TRELU_FOLDER}/finish.sh ${CPACK_PACKAGE_VERSION} ${CPACK_PACKAGE_FILES}
  COMMAND_ERROR_IS_FATAL ANY)
