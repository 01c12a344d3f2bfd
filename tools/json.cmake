# cmake -DFILE=x.json -P tools/json.cmake: fails with the reader's message when x.json is not JSON.
file(READ ${FILE} text)
string(JSON kind ERROR_VARIABLE wrong TYPE "${text}")
if(wrong)
  message(FATAL_ERROR "${FILE}: ${wrong}")
endif()
