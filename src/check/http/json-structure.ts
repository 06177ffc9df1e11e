const code = {
  quote: 0x22,
  escape: 0x5c,
  openList: 0x5b,
  openObject: 0x7b,
} as const;

/**
 * Reports whether a text in JSON has more objects and lists than `most`, without reading it: each takes many times its two bytes
 * once it is read. Brackets in texts do not count; what is no JSON may be counted in any way.
 */
export function hasMoreParts(text: Uint8Array, most: number): boolean {
  let parts = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (isInText) {
      if (byte === code.escape) at += 1;
      else if (byte === code.quote) isInText = false;
    } else if (byte === code.quote) {
      isInText = true;
    } else if (byte === code.openObject || byte === code.openList) {
      parts += 1;
      if (parts > most) return true;
    }
  }
  return false;
}
