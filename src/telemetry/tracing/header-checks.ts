// Not imported: an import of node:http evaluates all that it exports, and with it Node's own copy of undici.
/** What Node holds for the name of a header, and for a value: anything else makes it throw. */
export const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');
