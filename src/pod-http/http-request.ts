// Not imported: an import of node:http evaluates all that it exports, and with it Node's own copy of undici.
/** Sends a request of HTTP/1.1. */
export const { request } = process.getBuiltinModule('node:http');
