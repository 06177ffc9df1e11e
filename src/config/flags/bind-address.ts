import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';

/** Where a server listens. */
export interface BindAddress {
  /** Undefined: on all interfaces. */
  readonly host: string | undefined;
  /** 0 lets the system choose. */
  readonly port: number;
}

const syntax = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/;
const highestPort = 65_535;

/** Reads an address as Go's `net.Listen` does, such as `:8081`, `127.0.0.1:8081` or `[::1]:8081`; ports by number only. */
export function parseBindAddress(text: string): Parsed<BindAddress> {
  const match = syntax.exec(text);
  const [, bracketed, plain = '', digits = ''] = match ?? [];
  const port = Number(digits);
  if (match === null || port > highestPort) {
    return invalid('address', `must be [<host>]:<port>: got ${quoted(text)}`);
  }
  const host = bracketed ?? plain;
  return valid({ host: host === '' ? undefined : host, port });
}
