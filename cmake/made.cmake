# What the command prints about itself: completion scripts and a manual page per verb.
# usage: cmake -DPLIANT=program -DOUT=folder -P made.cmake
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)

function(made file)
    execute_process(COMMAND ${PLIANT} ${ARGN} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

made(pliant.bash completion bash)
made(_pliant completion zsh)
made(pliant.fish completion fish)
made(man1/pliant.1 help --man)

execute_process(COMMAND ${PLIANT} help --json - OUTPUT_VARIABLE tables COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH "${tables}" verbs)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    string(JSON verb GET "${tables}" verbs ${i} name)
    made(man1/pliant-${verb}.1 help --man ${verb})
endforeach()
