typedef int pl_learned_placeholder;
