/** One PEM block of a text. */
export interface PemBlock {
  /** What stands between its markers, without white space: base64 of the DER form. */
  readonly body: string;
  /** The block alone, with a line break at its end. */
  readonly pem: string;
}

const certificateBlock =
  /-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----/g;

/** The certificates in `text`, in order; whatever stands between them is left out. */
export function certificateBlocks(text: string): readonly PemBlock[] {
  return Array.from(text.matchAll(certificateBlock), ([, raw = '']) => {
    const body = raw.replaceAll(/\s+/g, '');
    return { body, pem: pemOf('CERTIFICATE', body) };
  });
}

/** A PEM block of the kind `label`. @param body base64 of the DER form */
export function pemOf(label: string, body: string): string {
  const lines = body.match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
