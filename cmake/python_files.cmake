# Copies the Python files of the package and the page of the view into the build; run at every build.
#   cmake -DFROM=SOURCE -DTO=BUILD/python -P python_files.cmake
file(GLOB python ${FROM}/python/pliant/*.py ${FROM}/python/pliant/*.pyi ${FROM}/python/pliant/py.typed)
file(COPY ${python} DESTINATION ${TO}/pliant)
file(GLOB page ${FROM}/web/*.js ${FROM}/web/*.html ${FROM}/web/*.css ${FROM}/web/*.svg)
file(COPY ${page} DESTINATION ${TO}/pliant/web)
set(three ${FROM}/web/node_modules/three)
foreach(file build/three.module.js build/three.core.js examples/jsm/controls/OrbitControls.js
    examples/jsm/exporters/GLTFExporter.js LICENSE)
    if(EXISTS ${three}/${file})
        get_filename_component(folder ${file} DIRECTORY)
        file(COPY ${three}/${file} DESTINATION ${TO}/pliant/web/three/${folder})
    endif()
endforeach()
