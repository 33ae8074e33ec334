// A room without sources yet still links.
typedef int pl_empty;
