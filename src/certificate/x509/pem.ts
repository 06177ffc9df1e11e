/** One PEM block of a text. */
export interface PemBlock {
  /** What is between its markers, without white space: base64 of the DER form. */
  readonly body: string;
  /** The block alone, with a line break at its end. */
  readonly pem: string;
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/**
 * Returns the certificates in `text`, in order; whatever is between them is left out.
 *
 * The writer of the text chooses its length: each character is looked at a fixed number of times, which a regular
 * expression over a whole block does not promise.
 */
export function certificateBlocks(text: string): readonly PemBlock[] {
  const parts = text.split(end);
  // What is behind the last end marker is no whole block.
  return parts.slice(0, -1).flatMap((part) => {
    const start = part.lastIndexOf(begin);
    return start < 0 ? [] : blockOf(part.slice(start + begin.length));
  });
}

/** Returns the block with `raw` between its markers; none where that is no base64. */
function blockOf(raw: string): readonly PemBlock[] {
  const body = raw.replaceAll(/\s+/g, '');
  if (body === '' || /[^A-Za-z0-9+/=]/.test(body)) return [];
  return [{ body, pem: pemOf('CERTIFICATE', body) }];
}

/** Returns a PEM block of the kind `label`. @param body base64 of the DER form */
export function pemOf(label: string, body: string): string {
  const lines = body.match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
