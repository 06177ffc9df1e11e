/** What a proxy speaks. */
export type ProxyKind = 'http' | 'socks';

const kinds: ReadonlyMap<string, ProxyKind> = new Map([
  ['http:', 'http'],
  ['https:', 'http'],
  ['socks:', 'socks'],
  ['socks5:', 'socks'],
  ['socks5h:', 'socks'],
]);

/** Returns the URL of a proxy, and what it speaks. @throws {Error} when `text` is no URL of a known kind; it does not repeat credentials */
export function parseProxy(text: string): { readonly url: URL; readonly kind: ProxyKind } {
  const url = URL.parse(text);
  const kind = url === null ? undefined : kinds.get(url.protocol);
  if (url === null || kind === undefined || url.hostname === '') {
    throw new Error(
      `Cannot use the proxy ${shown(text)}: it must be a URL of http, https or socks5, such as http://proxy:3128`,
    );
  }
  return { url, kind };
}

/** Returns the text without what may be a password. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/^([^/]*\/\/)?[^@]*@/, '$1…@'));
}
